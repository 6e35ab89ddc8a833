#if TIFF
import ImageCodecs

/// Collects the Exif data of a TIFF, which has the same directories between its pixels.
struct TIFFExif {
    /// A field of a directory.
    private struct Field {
        let tag: Int
        let type: Int
        let count: Int
        /// The value in the byte order of the file.
        let value: [UInt8]
    }

    /// The maximum number of fields of a directory.
    private static let maximumFields = 256
    /// The maximum size of all values, in bytes.
    private static let maximumBytes = 1 << 20
    /// The number of bytes of a value of each type of TIFF 6.0.
    private static let widths = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8]
    /// The tags of the first directory that describe more than the arrangement of the pixels: texts, the orientation, the
    /// resolution, and the time.
    private static let descriptions: Set<Int> = [270, 271, 272, 274, 282, 283, 296, 305, 306, 315, 316, 33_432]
    /// The directories for the camera, and for the location.
    private static let (exifTag, locationTag) = (0x8769, 0x8825)
    /// The notes of the maker of the camera, which refer to places in the file, and the directory for interoperability.
    private static let untransferable: Set<Int> = [0x927C, 0xA005]

    private let isBig: Bool
    private let isLittleEndian: Bool
    private var remaining = maximumBytes

    /// Returns the fields that describe the image, the camera, and the location; `nil` if there are none.
    static func read(_ file: Span<UInt8>) -> [UInt8]? {
        let isBig = file.byte(at: 2) == 43 || file.byte(at: 3) == 43
        var reader = TIFFExif(isBig: isBig, isLittleEndian: file.has("II", at: 0))
        let first = TIFFPages.number(isBig ? 8 : 4, at: isBig ? 8 : 4, of: file, reader.isLittleEndian)
        var pointers: [Int: Int] = [:]
        var image = reader.fields(at: first ?? 0, of: file, pointers: &pointers) { descriptions.contains($0) }
        var directories: [[Field]] = []
        var others: [Int: Int] = [:]
        for tag in [exifTag, locationTag] {
            guard let start = pointers[tag] else { continue }
            let fields = reader.fields(at: start, of: file, pointers: &others) { !untransferable.contains($0) }
            guard !fields.isEmpty else { continue }
            directories.append(fields)
            image.append(Field(tag: tag, type: 4, count: 1, value: [0, 0, 0, 0]))
        }
        guard !image.isEmpty else { return nil }
        return reader.data(image.sorted { $0.tag < $1.tag }, directories)
    }

    private init(isBig: Bool, isLittleEndian: Bool) {
        self.isBig = isBig
        self.isLittleEndian = isLittleEndian
    }

    /// Returns the fields of a directory that `isWanted` selects by their tag, and adds the places of other directories to
    /// `pointers`.
    private mutating func fields(
        at start: Int, of file: Span<UInt8>, pointers: inout [Int: Int], _ isWanted: (Int) -> Bool
    ) -> [Field] {
        let (offsetLength, countLength, entryLength) = isBig ? (8, 8, 20) : (4, 2, 12)
        guard start > 0, let entryCount = TIFFPages.number(countLength, at: start, of: file, isLittleEndian) else {
            return []
        }
        var fields: [Field] = []
        for index in 0..<min(entryCount, Self.maximumFields) {
            let entry = start + countLength + index * entryLength
            guard file.has(entryLength, at: entry) else { break }
            func number(_ length: Int, _ offset: Int) -> Int? {
                TIFFPages.number(length, at: entry + offset, of: file, isLittleEndian)
            }
            guard let tag = number(2, 0), let type = number(2, 2), let count = number(offsetLength, 4) else { continue }
            let place = 4 + offsetLength
            if tag == Self.exifTag || tag == Self.locationTag {
                pointers[tag] = number(type == 4 || type == 13 ? 4 : offsetLength, place)
                continue
            }
            guard isWanted(tag), Self.widths.indices.contains(type), count > 0, count <= remaining else { continue }
            let size = count * Self.widths[type]
            let offset = size <= offsetLength ? entry + place : number(offsetLength, place)
            guard size > 0, size <= remaining, let offset, file.has(size, at: offset) else { continue }
            remaining -= size
            fields.append(
                Field(tag: tag, type: type, count: count, value: (offset..<offset + size).map { file[$0] }))
        }
        return fields
    }

    /// Returns Exif data with the fields of the image, and of the directories to which these point in the same order.
    private func data(_ image: [Field], _ directories: [[Field]]) -> [UInt8] {
        var data = Array((isLittleEndian ? "II" : "MM").utf8) + bytes(42, 2) + bytes(8, 4)
        var next = 8 + size(of: image)
        var rest = directories[...]
        let pointing = image.map { field in
            guard field.tag == Self.exifTag || field.tag == Self.locationTag, let directory = rest.popFirst() else {
                return field
            }
            defer { next += size(of: directory) }
            return Field(tag: field.tag, type: 4, count: 1, value: bytes(next, 4))
        }
        append(pointing, to: &data)
        for directory in directories { append(directory, to: &data) }
        return data
    }

    private func append(_ fields: [Field], to data: inout [UInt8]) {
        var place = data.count + 2 + fields.count * 12 + 4
        var values: [UInt8] = []
        data += bytes(fields.count, 2)
        for field in fields {
            data += bytes(field.tag, 2) + bytes(field.type, 2) + bytes(field.count, 4)
            if field.value.count <= 4 {
                data += field.value + [UInt8](repeating: 0, count: 4 - field.value.count)
            } else {
                let padding = [UInt8](repeating: 0, count: field.value.count % 2)
                data += bytes(place, 4)
                values += field.value + padding
                place += field.value.count + padding.count
            }
        }
        // No directory follows.
        data += bytes(0, 4) + values
    }

    private func size(of fields: [Field]) -> Int {
        let values = fields.map { $0.value.count <= 4 ? 0 : $0.value.count + $0.value.count % 2 }
        return 2 + fields.count * 12 + 4 + values.reduce(0, +)
    }

    private func bytes(_ value: Int, _ length: Int) -> [UInt8] {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isLittleEndian ? bytes : bytes.reversed()
    }
}
#endif
