import ImageCodecs

/// A JPEG file behind which its gain map is stored, as Ultra HDR and ISO 21496-1 specify: both formats announce the map
/// in front of the pixels, and a directory of pictures (CIPA DC-007) contains its place.
enum UltraHDRFile {
    /// The metadata that say which version of ISO 21496-1 a reader needs, here any.
    private static let isoVersion = Array("urn:iso:std:iso:ts:21496:-1\0".utf8) + [0, 0, 0, 0]

    /// Returns the file of an image and its gain map, both complete JPEG files.
    static func bytes(of image: [UInt8], gainMap: [UInt8]) -> [UInt8] {
        let start = endOfIdentification(image)
        let announcement =
            segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + packet(gainMap.count))
            + segment(0xE2, isoVersion)
        // The length of the directory does not depend on its numbers.
        let directoryStart = start + announcement.count
        let size = image.count + announcement.count + directory(imageSize: 0, mapSize: 0, mapOffset: 0).count
        let offset = size - (directoryStart + 8)
        var file: [UInt8] = []
        file.reserveCapacity(size + gainMap.count)
        file += image[..<start]
        file += announcement
        file += directory(imageSize: size, mapSize: gainMap.count, mapOffset: offset)
        file += image[start...]
        file += gainMap
        return file
    }

    /// Returns the position behind the segments `APP0` and `APP1`, which identify the file and have to be first.
    private static func endOfIdentification(_ file: [UInt8]) -> Int {
        var offset = 2
        while offset + 4 <= file.count, file[offset] == 0xFF, [0xE0, 0xE1].contains(file[offset + 1]) {
            let length = Int(file[offset + 2]) << 8 | Int(file[offset + 3])
            guard offset + 2 + length <= file.count else { break }
            offset += 2 + length
        }
        return offset
    }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + content
    }

    private static func packet(_ length: Int) -> [UInt8] {
        let text = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" \
            xmlns:Container="http://ns.google.com/photos/1.0/container/" \
            xmlns:Item="http://ns.google.com/photos/1.0/container/item/" hdrgm:Version="1.0">\
            <Container:Directory><rdf:Seq><rdf:li rdf:parseType="Resource">\
            <Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li>\
            <rdf:li rdf:parseType="Resource">\
            <Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" Item:Length="\(length)"/></rdf:li>\
            </rdf:Seq></Container:Directory></rdf:Description></rdf:RDF></x:xmpmeta>
            """
        return Array(text.utf8)
    }

    /// Returns the segment with the directory; the offset counts from its TIFF header, 8 bytes from its marker.
    private static func directory(imageSize: Int, mapSize: Int, mapOffset: Int) -> [UInt8] {
        func bigEndian(_ number: Int, _ count: Int = 4) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
        }
        func field(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            bigEndian(tag, 2) + bigEndian(type, 2) + bigEndian(count) + value
        }
        let (undefined, long) = (7, 4)
        var tiff: [UInt8] = Array("MM".utf8) + [0, 42] + bigEndian(8) + bigEndian(3, 2)
        tiff += field(0xB000, undefined, 4, Array("0100".utf8))
        tiff += field(0xB001, long, 1, bigEndian(2))
        tiff += field(0xB002, undefined, 32, bigEndian(50))
        tiff += bigEndian(0)
        let (primary, unspecified) = (0x03_0000, 0)
        tiff += bigEndian(primary) + bigEndian(imageSize) + bigEndian(0) + bigEndian(0)
        tiff += bigEndian(unspecified) + bigEndian(mapSize) + bigEndian(mapOffset) + bigEndian(0)
        return segment(0xE2, Array("MPF\0".utf8) + tiff)
    }
}
