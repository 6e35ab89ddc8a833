extension TestExif {
    /// A field with numbers of its type; fractions are two numbers each.
    package struct Field {
        let tag: Int
        let type: Int
        /// The numbers, or the bits of those with a decimal point.
        let numbers: [Int]

        package init(_ tag: Int, type: Int, _ numbers: [Int]) {
            (self.tag, self.type, self.numbers) = (tag, type, numbers)
        }

        package init(_ tag: Int, type: Int = 2, _ text: String) {
            self.init(tag, type: type, text.utf8.map { Int($0) })
        }

        /// The number of bytes of each of ``numbers``.
        private var width: Int {
            switch type {
            case 3, 8: 2
            case 4, 5, 9, 10, 11: 4
            case 12: 8
            default: 1
            }
        }

        var count: Int { type == 5 || type == 10 ? numbers.count / 2 : numbers.count }

        func bytes(_ order: (Int, _ width: Int) -> [UInt8]) -> [UInt8] { numbers.flatMap { order($0, width) } }
    }

    /// A TIFF header and the directories of the image, of Exif, and of the location.
    package static func bytes(
        image: [Field], exif: [Field] = [], gps: [Field] = [], isBigEndian: Bool = true
    ) -> [UInt8] {
        func order(_ number: Int, _ width: Int) -> [UInt8] {
            let bytes = (0..<width).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            return isBigEndian ? bytes.reversed() : bytes
        }
        func directory(_ fields: [Field], at offset: Int) -> [UInt8] {
            var values: [UInt8] = []
            var entries = order(fields.count, 2)
            for field in fields {
                let bytes = field.bytes(order)
                entries += order(field.tag, 2) + order(field.type, 2) + order(field.count, 4)
                if bytes.count <= 4 {
                    entries += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
                } else {
                    entries += order(offset + 6 + fields.count * 12 + values.count, 4)
                    values += bytes
                }
            }
            return entries + order(0, 4) + values
        }
        func pointers(_ exif: Int, _ gps: Int) -> [Field] {
            [Field(0x8769, type: 4, [exif]), Field(0x8825, type: 4, [gps])]
        }
        let exifStart = 8 + directory(image + pointers(0, 0), at: 8).count
        let exifBytes = directory(exif, at: exifStart)
        let gpsStart = exifStart + exifBytes.count
        return Array((isBigEndian ? "MM" : "II").utf8) + order(42, 2) + order(8, 4)
            + directory(image + pointers(exifStart, gpsStart), at: 8) + exifBytes + directory(gps, at: gpsStart)
    }

    /// The data of a photo with a time, an exposure, and a place.
    package static let photo = bytes(
        image: [Field(0x010F, "Kamera\0"), Field(0x0110, "K-1 \"II\"\0"), Field(0x0112, type: 3, [1])],
        exif: [
            Field(0x829A, type: 5, [1, 60]), Field(0x9000, type: 7, "0232"), Field(0x9003, "2024:05:01 12:30:00\0"),
            Field(0x9101, type: 7, [1, 2, 3, 0]), Field(0xEEEE, type: 3, [7]),
        ],
        gps: [Field(1, "N\0"), Field(2, type: 5, [47, 1, 36, 1, 1_234, 25])])
}
