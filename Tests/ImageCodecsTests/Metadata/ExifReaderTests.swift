import ImageTestSupport
import Testing

@testable import ImageCodecs

struct ExifReaderTests {
    private typealias Field = TestExif.Field

    private func read(_ bytes: [UInt8]) -> [ExifField] { ExifReader(bytes)?.fields() ?? [] }

    private func values(_ fields: Field..., isBigEndian: Bool = true) -> [ExifField.Value] {
        read(TestExif.bytes(image: fields, isBigEndian: isBigEndian)).map(\.value)
    }

    @Test(arguments: [false, true])
    func valuesOfEveryTypeAreReadInBothByteOrders(isBigEndian: Bool) {
        let values = values(
            Field(1, type: 1, [255]), Field(2, type: 2, "ab\0"), Field(3, type: 3, [1, 65_535, 3]),
            Field(4, type: 4, [4_294_967_295]), Field(5, type: 5, [1, 60, 4_294_967_295, 0]),
            Field(6, type: 6, [-128, 127]), Field(7, type: 7, "0232"), Field(8, type: 8, [-32_768]),
            Field(9, type: 9, [-2_147_483_648, 7]), Field(10, type: 10, [-1, 3]),
            Field(11, type: 11, [Int(Float(0.5).bitPattern)]),
            Field(12, type: 12, [Int(bitPattern: UInt(Double(-0.1).bitPattern)), 0]), Field(13, type: 129, "ü"),
            isBigEndian: isBigEndian)
        let expected: [ExifField.Value] = [
            .integers([255]), .text("ab"), .integers([1, 65_535, 3]), .integers([4_294_967_295]),
            .rationals([.init(numerator: 1, denominator: 60), .init(numerator: 4_294_967_295, denominator: 0)]),
            .integers([-128, 127]), .text("0232"), .integers([-32_768]), .integers([-2_147_483_648, 7]),
            .rationals([.init(numerator: -1, denominator: 3)]), .reals([0.5]), .reals([-0.1, 0]), .text("ü"),
        ]
        #expect(values == expected)
    }

    @Test func fieldsHaveTheNamesOfTheStandardAndTheOrderOfTheData() {
        let fields = read(TestExif.photo)
        #expect(
            fields.map(\.name) == [
                "Make", "Model", "Orientation", "ExposureTime", "ExifVersion", "DateTimeOriginal", nil,
                "GPSLatitudeRef",
                "GPSLatitude",
            ])
        #expect(fields.map(\.tag).contains(0xEEEE) && !fields.map(\.tag).contains(0x9101))
        #expect(
            fields.map(\.directory) == Array(repeating: .image, count: 3) + Array(repeating: .exif, count: 4)
                + [.gps, .gps])
        #expect(ExifField.gpsName(31) == "GPSHPositioningError" && ExifField.gpsName(32) == nil)
    }

    @Test func exifTextEndsAtAZeroByteAndLosesTrailingBlanks() {
        #expect(values(Field(1, " a b  \0")) == [.text(" a b")])
        #expect(values(Field(1, "author\0editor\0")) == [.text("author")])
        #expect(values(Field(1, "   \0")) == [.text("")])
        #expect(values(Field(1, type: 2, [0x61, 0xFF, 0xE2, 0x80, 0])) == [.text("a\u{FFFD}\u{FFFD}")])
    }

    @Test(arguments: [false, true])
    func bytesOfUndefinedTypeAreReadOnlyIfTheyAreText(isBigEndian: Bool) {
        let letter = isBigEndian ? [0x20, 0xAC] : [0xAC, 0x20]
        let unicode = Array("UNICODE\0".utf8).map { Int($0) }
        let values = values(
            Field(1, type: 7, "ASCII\0\0\0a comment  "), Field(2, type: 7, unicode + letter + letter + [9]),
            Field(3, type: 7, [1, 2, 3, 0]), Field(4, type: 7, "ASCII\0\0"), Field(5, type: 7, unicode),
            isBigEndian: isBigEndian)
        #expect(values == [.text("a comment"), .text("€€"), .text("")])
    }

    @Test func exifFieldsWithOtherDataFormatsAreOmitted() {
        #expect(
            values(Field(0x927C, type: 7, "Kamera"), Field(0x02BC, type: 1, [1, 2]), Field(0x0112, type: 3, [1])) == [
                .integers([1])
            ])
    }

    @Test func numbersThatAreNotFiniteAreRead() throws {
        let floats = [Float.infinity, .nan, -.infinity].map { Int($0.bitPattern) }
        guard case .reals(let numbers) = try #require(values(Field(1, type: 11, floats)).first) else {
            Issue.record("not numbers")
            return
        }
        #expect(numbers[0] == .infinity && numbers[1].isNaN && numbers[2] == -.infinity)
    }

    @Test func directoriesThatPointToEachOtherAreReadOnce() {
        var bytes = TestExif.bytes(image: [Field(0x010F, "a\0")])
        // The pointer to the directory of Exif is the second entry.
        bytes.replaceSubrange(8 + 2 + 12 + 8..<8 + 2 + 12 + 12, with: [0, 0, 0, 8])
        #expect(read(bytes).map(\.directory) == [.image, .exif])
    }

    @Test func exifFieldsBeyondTheEndOrTheLimitsAreOmitted() {
        let most = ExifReader.maximumValueBytes
        let texts = [most, most + 1].map { String(repeating: "x", count: $0) }
        #expect(values(Field(1, texts[0]), Field(2, texts[1])) == [.text(texts[0])])
        #expect(values(Field(1, type: 5, [Int](repeating: 1, count: most / 4 + 2))).isEmpty)
        let many = (0..<ExifReader.maximumFields + 9).map { Field($0, type: 3, [$0]) }
        let bytes = TestExif.bytes(image: Array(many.prefix(200)), exif: many, gps: many)
        #expect(read(bytes).count == ExifReader.maximumFields)
        // A count and an offset of 32 bits.
        for range in [4..<8, 8..<12] {
            var bytes = TestExif.bytes(image: [Field(1, "abcdef"), Field(2, type: 3, [5])])
            bytes.replaceSubrange(10 + range.lowerBound..<10 + range.upperBound, with: [255, 255, 255, 255])
            #expect(read(bytes).map(\.value) == [.integers([5])])
        }
    }

    @Test(arguments: [false, true])
    func damagedExifDataNeverTraps(isBigEndian: Bool) {
        let bytes = TestExif.bytes(
            image: [Field(0x010F, "Kamera\0"), Field(11, type: 11, [1, 2]), Field(12, type: 12, [1])],
            exif: [
                Field(0x829A, type: 5, [1, 60]), Field(0x9286, type: 7, "UNICODE\0abcdefg"), Field(9, type: 9, [1]),
            ],
            gps: [Field(2, type: 5, [47, 1, 36, 1, 1_234, 25]), Field(6, type: 6, [1]), Field(8, type: 8, [1, 2])],
            isBigEndian: isBigEndian)
        let fields = read(bytes)
        #expect(fields.count == 9)
        for count in bytes.indices { #expect(read(Array(bytes.prefix(count))).count < fields.count) }
        for index in bytes.indices {
            for byte in [0, 1, 7, 0x7F, 0x80, 0xFF, ~bytes[index], bytes[index] &+ 1] {
                var damaged = bytes
                damaged[index] = byte
                #expect(read(damaged).count <= ExifReader.maximumFields)
            }
        }
    }

    @Test func exifDataWithoutAHeaderIsNotRead() {
        for text in ["", "I", "II", "II*", "XX*\0", "MM*\0\0\0\0\u{8}"] {
            #expect(ExifReader(Array(text.utf8)) == nil, "\(text)")
        }
        #expect(read(Array("II*\0".utf8)).isEmpty)
    }
}
