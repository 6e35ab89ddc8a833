import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(5)))
struct StreamingDecoderTests {
    private func jpeg(_ width: Int, _ height: Int, progressive: Bool = false) throws -> [UInt8] {
        try TestImage.photo(width, height).encoded(as: .jpeg, quality: 85, isProgressive: progressive)
    }

    /// Returns the file with an Exif segment that declares `orientation`.
    private func oriented(_ file: [UInt8], _ orientation: ImageOrientation) -> [UInt8] {
        let tiff: [UInt8] =
            Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1]
            + [0, UInt8(orientation.rawValue), 0, 0, 0, 0, 0, 0]
        let content = Array("Exif\0\0".utf8) + tiff
        return Array(file[..<2]) + [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content + Array(file[2...])
    }

    // MARK: Planning

    @Test func decodePlanIsAvailableBeforeDecoding() throws {
        let file = try jpeg(640, 480)
        let decoder = StreamingDecoder(options: DecodeOptions(target: .maximumSide(100)))
        try append(file, to: decoder)
        #expect(decoder.header?.size == PixelSize(width: 640, height: 480))
        let plan = try #require(decoder.plan)
        #expect(plan.storedSize == PixelSize(width: 640, height: 480))
        #expect(plan.rowSize == PixelSize(width: 160, height: 120))
        #expect(plan.scaledSize == PixelSize(width: 100, height: 75))
        #expect(plan.estimatedBytes >= plan.outputSize.area * 4)
        #expect(decoder.previewVersion == 0)
        try decoder.begin()
        #expect(decoder.previewVersion > 0)
        #expect(try decoder.finish().pixels.size == plan.outputSize)
    }

    @Test func memoryEstimateIncludesScansPerChannel() throws {
        var file = try jpeg(640, 480)
        let usual = try #require(try probe(file))
        let scan = try #require(file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
        file[scan + 4] = 1
        let separate = try #require(try probe(file))
        #expect(!usual.hasSeparateScans)
        #expect(separate.hasSeparateScans)
        #expect(
            JPEGRowDecoder.workingBytes(of: separate, rowSize: separate.size)
                > JPEGRowDecoder.workingBytes(of: usual, rowSize: usual.size) + 640 * 480 * 3 - 1)
    }

    @Test func decoderCannotBeUsedAfterItHasFinished() throws {
        let file = try jpeg(50, 50)
        let decoder = StreamingDecoder()
        try append(file, to: decoder)
        #expect(try decoder.finish().pixels == decode(file).pixels)
        #expect(throws: CodecError.truncated(.jpeg)) { try decoder.append(file.span) }
        #expect(throws: CodecError.truncated(.jpeg)) { try decoder.finish() }
        #expect(decoder.header?.size == PixelSize(width: 50, height: 50))
        #expect(decoder.previewVersion == 0 && !decoder.needsNoMoreBytes)
    }

    @Test func callingBeginTooEarlyOrTwiceHasNoEffect() throws {
        let file = try jpeg(50, 50)
        let decoder = StreamingDecoder()
        try decoder.begin()
        try append(file, to: decoder)
        try decoder.begin()
        try decoder.begin()
        #expect(try decoder.finish().pixels == decode(file).pixels)
    }

    // MARK: Orientation

    @Test(arguments: ImageOrientation.allCases)
    func imagesAreDecodedUpright(orientation: ImageOrientation) throws {
        let file = try jpeg(40, 24)
        let stored = try decode(file)
        let turned = try decode(oriented(file, orientation))
        #expect(turned.pixels == stored.pixels.turned(orientation))
        #expect(turned.header.orientation == orientation)
        #expect(turned.originalSize == stored.pixels.size.upright(orientation))
        #expect(!turned.wasScaled)
        let left = try decode(oriented(file, orientation), options: DecodeOptions(ignoresOrientation: true))
        #expect(left.pixels == stored.pixels)
        #expect(left.originalSize == stored.pixels.size)
    }

    @Test(arguments: ImageOrientation.allCases)
    func scaledImagesAreOriented(orientation: ImageOrientation) throws {
        let file = try jpeg(120, 60)
        let box = PixelSize(width: 30, height: 100)
        let stored = try decode(file, options: DecodeOptions(target: .fit(box.upright(orientation))))
        let turned = try decode(oriented(file, orientation), options: DecodeOptions(target: .fit(box)))
        #expect(turned.pixels == stored.pixels.turned(orientation))
        #expect(turned.pixels.width <= 30)
        #expect(turned.wasScaled)
    }

    // MARK: Previews

    @Test func baselinePreviewsGrowFromTheTopWithoutGarbage() throws {
        let file = try jpeg(160, 160)
        let final = try decode(file).pixels
        let decoder = StreamingDecoder()
        var rows = 0
        var version = 0
        for offset in stride(from: 0, to: file.count, by: 300) {
            try append(file, offset..<min(file.count, offset + 300), to: decoder)
            try decoder.begin()
            #expect(decoder.previewVersion >= version)
            version = decoder.previewVersion
            guard let preview = try decoder.preview() else { continue }
            #expect(preview.completeRows >= rows)
            #expect(preview.scan == nil)
            rows = preview.completeRows
            let complete = rows * 160 * 4
            #expect(preview.pixels.bytes[..<complete] == final.bytes[..<complete])
            #expect(preview.pixels.bytes[complete...].allSatisfy { $0 == 0 })
        }
        #expect(rows == 160)
        #expect(try decoder.finish().pixels == final)
    }

    @Test func progressivePreviewsAreWholeImagesOfRisingQuality() throws {
        let file = try jpeg(160, 120, progressive: true)
        let final = try decode(file).pixels
        let decoder = StreamingDecoder()
        var errors: [Int] = []
        var scans: [Int] = []
        for offset in stride(from: 0, to: file.count, by: 50) {
            let version = decoder.previewVersion
            try append(file, offset..<min(file.count, offset + 50), to: decoder)
            try decoder.begin()
            #expect(decoder.previewVersion >= version)
            guard decoder.previewVersion > version, let preview = try decoder.preview() else { continue }
            #expect(preview.completeRows == 120)
            scans.append(try #require(preview.scan))
            errors.append(zip(preview.pixels.bytes, final.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) })
        }
        #expect(scans.first == 1)
        #expect(scans == scans.sorted() && scans.count >= 5)
        #expect(errors.last == 0)
        #expect(errors[0] < 160 * 120 * 4 * 20)
        #expect(errors[0] > errors[errors.count - 2])
        #expect(try decoder.finish().pixels == final)
    }

    /// A mirrored preview would have the right size.
    @Test(arguments: ImageOrientation.allCases, [false, true])
    func previewsAreScaledAndTurnedLikeTheImage(orientation: ImageOrientation, isProgressive: Bool) throws {
        let file = try jpeg(200, 100, progressive: isProgressive)
        let box = PixelSize(width: 50, height: 200)
        func decoder(of file: [UInt8], _ box: PixelSize, without missing: Int) throws -> StreamingDecoder {
            let decoder = StreamingDecoder(options: DecodeOptions(target: .fit(box)))
            try append(file, 0..<file.count - missing, to: decoder)
            try decoder.begin()
            return decoder
        }
        let missing = file.count / 3
        let stored = try decoder(of: file, box.upright(orientation), without: missing)
        let turned = try decoder(of: oriented(file, orientation), box, without: missing)
        let preview = try #require(try turned.preview())
        var expected = try #require(try stored.preview()).pixels
        // Of an image on its side, several rows are shown at a time.
        for index in preview.completeRows * expected.width * 4..<expected.bytes.count { expected.bytes[index] = 0 }
        #expect(preview.completeRows > expected.height / 4)
        #expect(preview.pixels == expected.turned(orientation))
        #expect(preview.pixels.size == PixelSize(width: 50, height: orientation.swapsAxes ? 100 : 25))
        #expect(try turned.preview() == preview)
        for decoder in [stored, turned] { try decoder.append(file.span.extracting(last: missing)) }
        #expect(try turned.finish().pixels == stored.finish().pixels.turned(orientation))
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp, .gif])
    func previewsOfLargeImagesAreSmaller(format: ImageFormat) throws {
        let file = try TestImage.photo(200, 120).encoded(as: format)
        let decoder = StreamingDecoder()
        var rows: [Int] = []
        for offset in stride(from: 0, to: file.count, by: 500) {
            try append(file, offset..<min(file.count, offset + 500), to: decoder)
            try decoder.begin()
            guard let preview = try decoder.preview(maximumSide: 50) else { continue }
            #expect(preview.pixels.size == PixelSize(width: 50, height: 30))
            rows.append(preview.completeRows)
            let (complete, next) = (preview.completeRows * 200, min(30, preview.completeRows + 1) * 200)
            #expect(stride(from: 3, to: complete, by: 4).allSatisfy { preview.pixels.bytes[$0] == 255 })
            #expect(preview.pixels.bytes[next...].allSatisfy { $0 == 0 })
        }
        #expect(rows == rows.sorted() && rows.last == 30)
        #expect(try decoder.finish() == decode(file))
    }

    @Test func previewsDoNotChangeTheResult() throws {
        let file = try jpeg(90, 70, progressive: true)
        let decoder = StreamingDecoder()
        for offset in file.indices {
            try append(file, offset..<offset + 1, to: decoder)
            try decoder.begin()
            _ = try decoder.preview()
        }
        #expect(try decoder.finish() == decode(file))
    }

    // MARK: Errors

    @Test(arguments: [
        ("", "an empty file"), ("<!DOCTYPE html><html></html>", "HTML"), ("{\"error\": 404}", "JSON"),
        ("%PDF-1.7 and so on", "a PDF"), ("short", "plain text"),
    ])
    func unsupportedFilesAreNamedInTheError(text: String, name: String) {
        let bytes = Array(text.utf8)
        #expect(throws: CodecError.notAnImage(lookingLike: name)) { try decode(bytes) }
    }

    @Test func twelveBytesAreEnoughToRejectAFile() throws {
        let bytes = Array("<!DOCTYPE ht".utf8)
        let decoder = StreamingDecoder()
        try append(bytes, 0..<11, to: decoder)
        #expect(throws: CodecError.self) { try append(bytes, 11..<12, to: decoder) }
    }

    @Test func decoderErrorIsThrownAgain() throws {
        var file = try jpeg(50, 50)
        file.removeLast(10)
        let decoder = StreamingDecoder()
        try append(file, to: decoder)
        try decoder.begin()
        #expect(throws: CodecError.truncated(.jpeg)) { try decoder.finish() }
        #expect(throws: CodecError.truncated(.jpeg)) { try decoder.finish() }
        #expect(throws: CodecError.truncated(.jpeg)) { try append(file, to: decoder) }
        #expect(throws: CodecError.truncated(.jpeg)) { try decoder.begin() }
        #expect(throws: CodecError.truncated(.jpeg)) { try decoder.preview() }
        #expect(decoder.previewVersion == 0)
    }

    // MARK: Limits

    @Test func limitsHoldForPixelsSidesBytesAndHeaders() throws {
        let file = try jpeg(300, 200)
        func error(_ change: (inout DecodeLimits) -> Void) -> CodecError? {
            var limits = DecodeLimits()
            change(&limits)
            return #expect(throws: CodecError.self) { try decode(file, limits: limits) }
        }
        #expect(error { $0.maximumPixels = 59_999 } == .overLimit(.pixels, value: 60_000, limit: 59_999))
        #expect(error { $0.maximumSide = 299 } == .overLimit(.side, value: 300, limit: 299))
        #expect(error { $0.maximumBytes = 999 } == .overLimit(.bytes, value: file.count, limit: 999))
        guard case .overLimit(.headerBytes, _, 100) = error({ $0.maximumHeaderBytes = 100 }) else {
            Issue.record("the header is longer than 100 bytes")
            return
        }
    }

    @Test func headersOverTheLimitAreRejectedWhileTheyArrive() throws {
        var limits = DecodeLimits()
        limits.maximumHeaderBytes = 10_000
        let decoder = StreamingDecoder(limits: limits)
        let start: [UInt8] = [0xFF, 0xD8]
        let comment: [UInt8] = [0xFF, 0xFE, 0x01, 0x00] + [UInt8](repeating: 0, count: 254)
        try append(start, to: decoder)
        var appended = 2
        #expect(throws: CodecError.self) {
            while appended < 1_000_000 {
                try append(comment, to: decoder)
                appended += comment.count
            }
        }
        #expect(appended < 13_000)
    }
}
