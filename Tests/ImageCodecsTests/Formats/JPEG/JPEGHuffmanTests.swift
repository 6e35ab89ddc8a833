import ImageTestSupport
import Testing

@testable import ImageCodecs

/// The entropy decoder of sequential files, which replaces libjpeg's.
@Suite(
    .enabled(if: TestJPEGScans.isAvailable && ReferenceDecoder.has("djpeg"), "cjpeg or djpeg is not installed"),
    .timeLimit(.minutes(5)))
struct JPEGHuffmanTests {
    static let kinds = [
        TestJPEGScans(name: "values of many bits, optimized codes", options: "-quality 100 -optimize -sample 1x1"),
        TestJPEGScans(name: "values of many bits, standard codes", options: "-quality 100 -sample 2x2"),
        TestJPEGScans(name: "codes of few bits", options: "-quality 3 -optimize -grayscale"),
        TestJPEGScans(name: "a restart for each MCU", options: "-quality 100 -restart 1B -sample 2x1"),
        TestJPEGScans(name: "MCUs of six blocks", options: "-quality 60 -sample 4x1"),
        separateScans,
    ]

    private static let separateScans = TestJPEGScans(
        name: "one scan a channel", options: "-quality 90 -optimize", script: "0; 1; 2;")

    private func rows(
        of file: [UInt8], _ rowSize: PixelSize, toleratesDamage: Bool = false
    ) throws(CodecError) -> [UInt8] {
        guard let header = try probe(file) else { throw .truncated(.jpeg) }
        let decoder = try JPEGRowDecoder(
            header: header, rowSize: rowSize, limits: DecodeLimits(), toleratesDamage: toleratesDamage)
        let canvas = OrientedCanvas(stored: rowSize, orientation: .up)
        try decoder.append(file.span, to: canvas)
        try decoder.finish(to: canvas)
        return canvas.pixels.rgb
    }

    @Test(arguments: kinds)
    func sequentialJPEGsEqualDjpegAtEveryScale(kind: TestJPEGScans) throws {
        // Blocks with many coefficients, with few, and with a long run before one coefficient.
        let images = [
            TestImage.noise(203, 117, seed: 3, isOpaque: true), TestImage.photo(131, 77),
            TestImage.highestFrequency(50, 41),
        ]
        for image in images {
            let file = try kind.file(image)
            for eighths in [1, 2, 4, 8] {
                // Separate scans are decoded from DC coefficients at 1/8.
                if eighths == 1, kind.script != nil { continue }
                let reference = try ReferenceDecoder.decodeJPEG(file, eighths: eighths)
                #expect(try rows(of: file, reference.size) == reference.rgb, "\(eighths)/8 of \(image.size)")
            }
        }
    }

    /// libjpeg keeps the coefficients of the earlier scan that the later one does not have.
    @Test func aChannelCanBeInTwoScans() throws {
        var file = try Self.separateScans.file(TestImage.noise(99, 60, seed: 6, isOpaque: true))
        let scans = file.indices.dropLast().filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA }
        try #require(scans.count == 3)
        file[scans[2] + 5] = file[scans[1] + 5]
        for eighths in [2, 4, 8] {
            let reference = try ReferenceDecoder.decodeJPEG(file, eighths: eighths)
            #expect(try rows(of: file, reference.size) == reference.rgb, "\(eighths)/8")
        }
    }

    @Test(arguments: kinds)
    func sequentialJPEGsDoNotDependOnPieceSizes(kind: TestJPEGScans) throws {
        let file = try kind.file(TestImage.noise(90, 70, seed: 4, isOpaque: true))
        let whole = try decode(file)
        #expect(try decode(file) { 1 } == whole)
        for seed in 0..<5 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            #expect(try decode(file) { .random(in: 1...900, using: &random) } == whole)
        }
    }

    /// Changes one byte of the scan, without a new marker.
    ///
    /// libjpeg-turbo's faster decoder, whose pixels then differ from those of its other one, is not used for the MCUs
    /// of so small a file.
    @Test(arguments: ["-quality 90 -sample 1x1 -optimize", "-quality 70 -sample 2x2", "-quality 90 -grayscale"])
    func damagedSequentialJPEGsHaveThePixelsOfDjpeg(options: String) throws {
        let file = try TestJPEGScans(name: options, options: options).file(TestImage.photo(21, 13))
        let scan = try file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xDA }.unwrapped() + 14
        #expect(file.count - scan < 512)
        let size = PixelSize(width: 21, height: 13)
        var images = 0
        for index in scan..<file.count - 2 where !file[index - 1...index].contains(0xFF) {
            var damaged = file
            damaged[index] ^= UInt8(1 << (index % 8))
            if damaged[index] == 0xFF { continue }
            // The end marker may come before the last block.
            guard let pixels = try? rows(of: damaged, size, toleratesDamage: true) else { continue }
            images += 1
            #expect(try pixels == ReferenceDecoder.decodeJPEG(damaged, isDamaged: true).rgb, "byte \(index)")
        }
        #expect(images > 20)
    }

    @Test func invalidCodesAreDamageHoweverManyBytesFollow() throws {
        let file = try TestJPEGScans(name: "gray", options: "-quality 95 -grayscale").file(TestImage.photo(400, 300))
        var damaged = file
        // Ones are no code.
        damaged.insert(contentsOf: [0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0], at: file.count / 2)
        let error = #expect(throws: CodecError.self) { try decode(damaged) }
        guard case .corrupt(.jpeg, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("bad Huffman code"))
        let size = PixelSize(width: 400, height: 300)
        let pixels = try rows(of: damaged, size, toleratesDamage: true)
        let half = pixels.count / 3
        #expect(try pixels[..<half] == rows(of: file, size)[..<half])
    }

    @Test(arguments: ["-quality 90", "-quality 90 -restart 1"])
    func fillBytesBeforeMarkersAreIgnored(options: String) throws {
        let file = try TestJPEGScans(name: options, options: options).file(TestImage.photo(64, 80))
        let whole = try decode(file)
        let scan = try file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xDA }.unwrapped() + 2
        var filled = Array(file[..<scan])
        for index in scan..<file.count {
            let isMarker = file[index] == 0xFF && index + 1 < file.count && file[index + 1] != 0
            filled += [UInt8](repeating: 0xFF, count: isMarker ? 300 : 0) + [file[index]]
        }
        #expect(try decode(filled) == whole)
        #expect(try decode(filled) { 1 } == whole)
        #expect(throws: Never.self) { try ImageVerifier.verify(filled.span) }
    }

    // MARK: Later scans, whose tables libjpeg does not examine

    /// Returns the error of a file with separate scans after a change of the second segment with this marker.
    private func error(changing marker: UInt8, _ change: (inout ArraySlice<UInt8>) -> Void) throws -> CodecError? {
        var file = try Self.separateScans.file(TestImage.noise(64, 48, seed: 5, isOpaque: true))
        let starts = file.indices.dropLast().filter { file[$0] == 0xFF && file[$0 + 1] == marker }
        let scan = try file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xDA }.unwrapped()
        let start = try starts.first { $0 > scan }.unwrapped()
        change(&file[start...])
        return #expect(throws: CodecError.self) { try decode(file) }
    }

    @Test func tooManyHuffmanCodesInALaterScanAreAnError() throws {
        let error = try error(changing: 0xC4) { segment in
            // The counts of codes by length follow marker, length, and number. One code of one bit is the maximum,
            // because no code consists of ones alone.
            let counts = segment.startIndex + 5..<segment.startIndex + 21
            let total = segment[counts].reduce(0, +)
            segment.replaceSubrange(counts, with: [2, total - 2] + [UInt8](repeating: 0, count: 14))
        }
        #expect(error == .corrupt(.jpeg, "Bogus Huffman table definition"))
    }

    @Test func huffmanCodeOfOnesAloneInALaterScanIsAnError() throws {
        let error = try error(changing: 0xC4) { segment in
            let counts = segment.startIndex + 5..<segment.startIndex + 21
            let total = Int(segment[counts].reduce(0, +))
            // One code of each length but the last, which has two: all codes are used.
            let ones = [UInt8](repeating: 1, count: total - 2)
            segment.replaceSubrange(counts, with: ones + [2] + [UInt8](repeating: 0, count: 17 - total))
        }
        #expect(error == .corrupt(.jpeg, "Bogus Huffman table definition"))
    }

    @Test func missingHuffmanTableOfALaterScanIsAnError() throws {
        let error = try error(changing: 0xDA) { segment in
            // Marker, length, number of channels, channel, tables.
            segment[segment.startIndex + 6] = 0x33
        }
        #expect(error == .corrupt(.jpeg, "Huffman table 0x03 was not defined"))
    }
}
