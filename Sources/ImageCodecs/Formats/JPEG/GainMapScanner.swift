/// Finds the gain map of a JPEG file that arrives in pieces: a second JPEG file behind the image, with which displays of
/// high dynamic range make parts brighter (ISO 21496-1, Ultra HDR).
///
/// Its place is in the directory of pictures, among which its metadata identify it.
package struct GainMapScanner: Sendable {
    /// The maximum number of bytes in front of the pixels that are searched.
    package static let maximumHeadBytes = 1 << 20
    /// The maximum total size of the pictures that are kept to look for a gain map.
    package static let maximumBytes = 16 << 20

    /// A picture behind the image.
    private struct Picture {
        let place: Range<Int>
        var bytes: [UInt8] = []
    }

    /// The beginning of the file, until the directory has been read.
    private var head: [UInt8]? = []
    private var pictures: [Picture] = []
    private var position = 0

    package init() {}

    /// The number of bytes held.
    var heldCount: Int { pictures.reduce(head?.count ?? 0) { $0 + $1.bytes.count } }

    /// The gain map, a complete JPEG file; `nil` if none has been found.
    package var gainMap: [UInt8]? {
        pictures.first { $0.bytes.count == $0.place.count && Self.isGainMap($0.bytes.span) }?.bytes
    }

    /// Returns the gain map in a complete file; `nil` if there is none.
    static func gainMap(in file: Span<UInt8>) -> [UInt8]? {
        let places = limited(JPEGPictureDirectory.places(in: file) ?? [])
        let maps = places.filter { $0.upperBound <= file.count && isGainMap(file.extracting($0)) }
        return maps.first.map { [UInt8](copying: file.extracting($0)) }
    }

    /// Continues the search in the next piece of the file.
    package mutating func append(_ piece: Span<UInt8>) {
        guard var head else { return take(piece) }
        head.append(piece)
        self.head = head
        if let places = JPEGPictureDirectory.places(in: head.span) {
            pictures = Self.limited(places).map { Picture(place: $0) }
        } else if head.count <= Self.maximumHeadBytes {
            return
        }
        self.head = nil
        take(head.span)
    }

    /// Takes the bytes of the pictures from the next piece of the file.
    private mutating func take(_ piece: Span<UInt8>) {
        let range = position..<position + piece.count
        for index in pictures.indices {
            let part = pictures[index].place.clamped(to: range)
            guard !part.isEmpty else { continue }
            pictures[index].bytes.append(piece.extracting(part.lowerBound - position..<part.upperBound - position))
        }
        position = range.upperBound
    }

    private static func limited(_ places: [Range<Int>]) -> [Range<Int>] {
        var total = 0
        return places.prefix { place in
            total += place.count
            return total <= maximumBytes
        }
    }

    /// Returns whether a JPEG file contains the metadata of a gain map.
    private static func isGainMap(_ file: Span<UInt8>) -> Bool {
        JPEGMetadataSegments(file).segments.contains {
            ImageHeader.describesGainMap($0.marker, file.extracting($0.content))
        }
    }
}
