#if JPEGXL
import ImageCodecs
import ImageEncoders
import ImageFormatJPEGXL
import ImageTestSupport
import Testing

@Suite(.enabled(if: TestJPEGXL.hasTools, "needs cjxl, djxl, and cjpeg"))
struct JPEGXLTests {
    /// The options with which `cjpeg` makes a JPEG.
    private static let kinds: [[String]] = [
        ["-sample", "1x1"], ["-sample", "2x2"], ["-sample", "2x1"], ["-sample", "1x2"], ["-grayscale"],
        ["-progressive"], ["-progressive", "-sample", "2x2", "-optimize"], ["-progressive", "-grayscale"],
        ["-restart", "2B"], ["-restart", "3B", "-progressive"], ["-quality", "100"], ["-quality", "5"],
    ]

    private func transcoded(_ jpeg: [UInt8] = []) throws -> (jpeg: [UInt8], file: [UInt8]) {
        let jpeg = jpeg.isEmpty ? try TestJPEGXL.jpeg(TestImage.photo(61, 47), ["-sample", "2x2"]) : jpeg
        return (jpeg, try JPEGXL.transcoded(fromJPEG: jpeg))
    }

    @Test(arguments: kinds) func everyByteIsRestored(options: [String]) throws {
        let (jpeg, file) = try transcoded(TestJPEGXL.jpeg(TestImage.photo(61, 47), options))
        #expect(try JPEGXL.jpeg(from: file) == jpeg)
        #expect(try TestJPEGXL.referenceJPEG(file) == jpeg)
        #expect(try JPEGXL.jpeg(from: TestJPEGXL.file(jpeg: jpeg)) == jpeg)
    }

    @Test func metadataIsKept() throws {
        let metadata = ImageMetadata(exif: TestExif.bytes(orientation: 6))
        let (jpeg, file) = try transcoded(TestImage.photo(40, 30).encoded(with: .jpeg(), metadata: metadata))
        #expect(try JPEGXL.jpeg(from: file) == jpeg)
        #expect(ImageMetadata(file: file.span, customFormats: [JPEGXLFormat()]).exif == metadata.exif)
        let image = try StreamingDecoder.decode(file.span, customFormats: [JPEGXLFormat()])
        #expect(image.pixels.size == PixelSize(width: 30, height: 40))
    }

    @Test func bytesAfterTheEndAreKept() throws {
        let jpeg = try TestImage.photo(40, 30).encoded(with: .jpeg()) + Array("and more".utf8)
        #expect(try JPEGXL.jpeg(from: transcoded(jpeg).file) == jpeg)
    }

    @Test func fileIsSmallerAndHasThePixelsOfTheJPEG() throws {
        let (jpeg, file) = try transcoded(TestJPEGXL.jpeg(TestImage.photo(320, 240), ["-sample", "1x1"]))
        #expect(file.count < jpeg.count)
        let decoded = try StreamingDecoder.decode(file.span, customFormats: [JPEGXLFormat()]).pixels
        let original = try StreamingDecoder.decode(jpeg.span).pixels
        let errors = zip(decoded.bytes, original.bytes).map { abs(Int($0) - Int($1)) }
        #expect(errors.reduce(0, +) < 3 * errors.count)
    }

    @Test func fileOfPixelsHasNoJPEG() throws {
        let image = TestImage.photo(40, 30)
        for isLossless in [true, false] {
            let file = try image.encoded(with: .jpegXL(JPEGXLEncoder(isLossless: isLossless)))
            #expect(try JPEGXL.jpeg(from: file) == nil)
        }
        let animation = try TestJPEGXL.file(animation: TestImages.wanderingSquare(3), delay: .milliseconds(100))
        #expect(try JPEGXL.jpeg(from: animation) == nil)
    }

    @Test func otherFormatsAreErrors() throws {
        let png = try TestImage.photo(12, 8).encoded(with: .png())
        #expect(throws: CodecError.encodingFailed(.jpegXL, "only a JPEG can be transcoded, and this is PNG")) {
            try JPEGXL.transcoded(fromJPEG: png)
        }
        #expect(throws: CodecError.corrupt(.jpegXL, "it is PNG")) { try JPEGXL.jpeg(from: png) }
        #expect(throws: CodecError.self) { try JPEGXL.transcoded(fromJPEG: []) }
        #expect(throws: CodecError.self) { try JPEGXL.jpeg(from: []) }
    }

    @Test func jpegThatLibjxlCannotConvertIsAnError() throws {
        let image = TestImage.photo(40, 30)
        let error = CodecError.encodingFailed(.jpegXL, "the JPEG (error 4 of libjxl)")
        // In rows, the intervals of these restart markers differ between scans.
        for options in [["-arithmetic"], ["-restart", "1", "-progressive"]] {
            let jpeg = try TestJPEGXL.jpeg(image, options)
            #expect(throws: error) { try JPEGXL.transcoded(fromJPEG: jpeg) }
        }
        let metadata = ImageMetadata(colorProfile: TestProfile.bytes("RGB "))
        let jpeg = try image.encoded(with: .jpeg(), metadata: metadata)
        #expect(throws: error) { try JPEGXL.transcoded(fromJPEG: jpeg) }
    }

    @Test func truncatedJPEGIsAnError() throws {
        let jpeg = try TestJPEGXL.jpeg(TestImage.photo(24, 16), [])
        for count in stride(from: 0, to: jpeg.count - 2, by: 7) {
            #expect(throws: CodecError.self) { try JPEGXL.transcoded(fromJPEG: Array(jpeg.prefix(count))) }
        }
    }

    @Test func truncatedFileIsAnError() throws {
        let file = try transcoded().file
        for count in 0..<file.count - 1 {
            #expect(throws: CodecError.self, "\(count) bytes") { try JPEGXL.jpeg(from: Array(file.prefix(count))) }
        }
    }

    @Test func damagedFileGivesAnErrorOrBytesWithinTheLimits() throws {
        let limits = DecodeLimits(maximumPixels: 1 << 14, maximumBytes: 1 << 16, maximumWork: 1 << 18)
        let (jpeg, file) = try transcoded()
        for seed in 0..<400 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var (damagedJPEG, damaged) = (jpeg, file)
            for _ in 0...seed % 3 {
                damaged[Int.random(in: file.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                damagedJPEG[Int.random(in: jpeg.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if let restored = try? JPEGXL.jpeg(from: damaged, limits: limits) { #expect(restored.count <= 1 << 16) }
            if let result = try? JPEGXL.transcoded(fromJPEG: damagedJPEG, limits: limits) {
                #expect(try JPEGXL.jpeg(from: result) == damagedJPEG)
            }
        }
    }

    @Test func limitsAreChecked() throws {
        let (jpeg, file) = try transcoded(TestJPEGXL.jpeg(TestImage.photo(160, 120), []))
        let pixels = DecodeLimits(maximumPixels: 160 * 120 - 1)
        let error = CodecError.overLimit(.pixels, value: 160 * 120, limit: 160 * 120 - 1)
        #expect(throws: error) { try JPEGXL.transcoded(fromJPEG: jpeg, limits: pixels) }
        #expect(throws: error) { try JPEGXL.jpeg(from: file, limits: pixels) }
        #expect(throws: CodecError.overLimit(.bytes, value: file.count, limit: file.count - 1)) {
            try JPEGXL.jpeg(from: file, limits: DecodeLimits(maximumBytes: file.count - 1))
        }
        #expect(throws: CodecError.overLimit(.bytes, value: jpeg.count, limit: jpeg.count - 1)) {
            try JPEGXL.jpeg(from: file, limits: DecodeLimits(maximumBytes: jpeg.count - 1))
        }
        #expect(try JPEGXL.jpeg(from: file, limits: DecodeLimits(maximumBytes: jpeg.count)) == jpeg)
    }

    /// Returns the file with other markers in the data for restoring the JPEG.
    private func file(withMarkers markers: [UInt8]) throws -> [UInt8] {
        let file = try transcoded().file
        let name = Array("jbrd".utf8)
        let start = try file.indices.first { file[$0...].starts(with: name) }.unwrapped() - 4
        let length = try file.span.bigEndian32(at: start).unwrapped()
        var data = [UInt8](repeating: 0, count: (1 + markers.count * 6 + 7) / 8)
        for (index, marker) in markers.enumerated() {
            for bit in 0..<6 where (marker - 0xC0) >> bit & 1 != 0 {
                let position = 1 + index * 6 + bit
                data[position / 8] |= 1 << (position % 8)
            }
        }
        let count = data.count + 8
        return file[..<start] + [0, UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)] + name + data
            + file[(start + length)...]
    }

    @Test func fewBytesThatStandForManyScansOrSegmentsAreAnError() throws {
        let scans = try file(withMarkers: Array(repeating: 0xDA, count: 101) + [0xD9])
        #expect(throws: CodecError.overLimit(.scans, value: 101, limit: 100)) { try JPEGXL.jpeg(from: scans) }
        #expect(throws: CodecError.overLimit(.work, value: 101 * 61 * 47, limit: 100 * 61 * 47)) {
            try JPEGXL.jpeg(from: scans, limits: DecodeLimits(maximumScans: 1_000, maximumWork: 100 * 61 * 47))
        }
        for marker in [0xE1, 0xFE, 0xFF] as [UInt8] {
            let segments = try file(withMarkers: Array(repeating: marker, count: 1_025) + [0xD9])
            let error = CodecError.unsupportedFeature(.jpegXL, "a JPEG with more than 1024 segments of metadata")
            #expect(throws: error) { try JPEGXL.jpeg(from: segments) }
        }
    }

    @Test func memoryGrowsWithThePixels() {
        let (small, large) = (PixelSize(width: 10, height: 10), PixelSize(width: 1_000, height: 1_000))
        #expect(JPEGXL.workingBytes(for: large) - JPEGXL.workingBytes(for: small) == 64 * (1_000_000 - 100))
    }

    @Test func conversionsStopWhenTheirTaskIsCanceled() async throws {
        let (jpeg, file) = try transcoded()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(throws: CodecError.cancelled(.jpegXL)) { try JPEGXL.transcoded(fromJPEG: jpeg) }
            return try JPEGXL.jpeg(from: file)
        }
        let result = await task.result
        #expect(throws: CodecError.cancelled(.jpegXL)) { try result.get() }
    }
}
#endif
