import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(5)))
struct LosslessTablesTests {
    /// Without a color cache: 2,954 entries of 4 bytes, and 568 bytes.
    private static let groupBytes = 12_384

    private func tables(_ image: TestLossless) throws -> Int? {
        var tables = LosslessTables(size: PixelSize(width: image.width, height: image.height))
        let bitstream = image.bitstream
        try tables.read(bitstream.span)
        return tables.bytes
    }

    @Test(arguments: [1, 2, 999, 1_000, 1_001, 65_536])
    func eachWebPCodeGroupIsCountedOnce(groupCount: Int) throws {
        let image = TestLossless(width: 1_024, height: 1_024, groupCount: groupCount)
        #expect(try tables(image) == 65_536 * 4 + groupCount * Self.groupBytes)
    }

    /// libwebp makes tables for groups that no block chooses, unless there are many or more than pixels.
    @Test(arguments: [(64, 900, 901), (64, 1_000, 2), (64, 65_535, 2), (16, 255, 256), (16, 256, 2)])
    func unusedWebPCodeGroupsAreCountedAsInLibwebp(side: Int, highest: Int, count: Int) throws {
        let image = TestLossless(width: side, height: side, groups: [0, highest])
        #expect(try tables(image) == image.blockCount * 4 + count * Self.groupBytes)
        let size = PixelSize(width: side, height: side)
        let decoder = try WebPImageDecoder(storedSize: size, size: size, tableLimit: .max)
        let chunk = image.chunk
        decoder.append(chunk.span)
        try decoder.decode(isLast: true)
        #expect(decoder.isComplete)
    }

    @Test func webpTablesAreCountedWhileTheFileArrives() throws {
        let image = TestLossless(width: 33, height: 65, groupCount: 20)
        let bitstream = image.bitstream
        // The codes follow the choice of groups, but are not read.
        let codes = image.groups.count * 5 / 2
        var tables = LosslessTables(size: PixelSize(width: 33, height: 65))
        for end in 0..<bitstream.count - codes - 1 {
            try tables.read(bitstream.span.extracting(first: end))
            #expect(tables.bytes == nil)
        }
        try tables.read(bitstream.span.extracting(first: bitstream.count - codes + 1))
        #expect(tables.bytes == image.blockCount * 4 + 20 * Self.groupBytes)
    }

    /// The images use transforms, palettes, color caches, and groups.
    @Test(arguments: [0, 4, 6])
    func encodedLosslessWebPTablesAreWithinTheLimit(effort: Int) throws {
        let images = [
            try TestImages.photo(width: 257, height: 130, hasAlpha: true), try TestImages.photo(width: 1, height: 1),
            try TestImages.drawing(width: 200, height: 311), try TestImages.drawing(width: 8, height: 3),
        ]
        for image in images {
            let file = try image.encoded(with: .webp(WebPOptions(isLossless: true, effort: effort)))
            let start = try #require(file.indices.first { file[$0...].starts(with: Array("VP8L".utf8)) })
            let bitstream = Array(file[(start + 13)...])
            var tables = LosslessTables(size: image.size)
            try tables.read(bitstream.span)
            #expect(try #require(tables.bytes) <= LosslessTables.limit(compressedBytes: bitstream.count))
        }
    }

    @Test func invalidWebPCodesAreCorrupt() {
        // A color cache of 0 bits.
        var tables = LosslessTables(size: PixelSize(width: 1, height: 1))
        let bitstream: [UInt8] = [0b10, 0, 0, 0]
        #expect(throws: CodecError.corrupt(.webp, "invalid image data")) { try tables.read(bitstream.span) }
    }
}

/// Files of a few hundred kilobytes, for which libwebp would take 800 MB.
@Suite(.timeLimit(.minutes(5)))
struct LosslessTableLimitTests {
    private static let hostile = TestLossless(width: 1_024, height: 1_024, groupCount: 65_536)
    private static let usual = TestLossless(width: 1_024, height: 1_024, groupCount: 40)

    private static func files(_ image: TestLossless) throws -> [[UInt8]] {
        [image.file, try image.alphaFile(), TestLossless.animation([image, image])]
    }

    private func expectOverLimit(
        _ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        let error = #expect(throws: CodecError.self, comment, sourceLocation: sourceLocation) { try body() }
        guard case .overLimit(.memory, let value, let limit) = error else {
            Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
            return
        }
        #expect(value > 800_000_000 && limit <= 48 << 20, comment, sourceLocation: sourceLocation)
    }

    @Test func webpTablesAboveTheLimitAreNotAllocated() throws {
        for file in try Self.files(Self.hostile) {
            #expect(file.count < 640 << 10)
            expectOverLimit("decoded") { _ = try StreamingDecoder.decode(file.span) }
            expectOverLimit("verified") { _ = try ImageVerifier.verify(file.span) }
        }
    }

    @Test func webpTablesWithinTheLimitAreAllocated() throws {
        for file in try Self.files(Self.usual) {
            #expect(throws: Never.self) { try StreamingDecoder.decode(file.span) }
            #expect(throws: Never.self) { try ImageVerifier.verify(file.span) }
        }
    }

    @Test func everyWebPFrameIsSubjectToTheTableLimit() throws {
        let file = TestLossless.animation([Self.usual, Self.hostile])
        expectOverLimit("verified") { _ = try ImageVerifier.verify(file.span) }
        let decoder = AnimationDecoder(try AnimatedImage(file))
        #expect(throws: Never.self) { try decoder.frame(at: 0) }
        expectOverLimit("decoded") { _ = try decoder.frame(at: 1) }
    }

    @Test func webpTableLimitAppliesToPartialImages() {
        let file = Self.hostile.file
        var options = DecodeOptions()
        options.allowsPartial = true
        expectOverLimit("decoded") { _ = try StreamingDecoder.decode(file.span, options: options) }
    }

    /// Memory estimates are based on this limit.
    @Test func losslessWebPTablesAreCountedAsMemory() throws {
        let side = Self.hostile.width
        for file in try Self.files(Self.hostile) {
            let decoder = StreamingDecoder()
            let verifier = ImageVerifier()
            try decoder.append(file.span)
            try verifier.append(file.span)
            let tables = LosslessTables.limit(compressedBytes: Self.hostile.chunk.count)
            #expect(try #require(decoder.plan).estimatedBytes >= side * side * 4 + tables)
            #expect(try #require(verifier.estimatedBytes) >= side * side * 4 + tables)
        }
        let frames = try AnimatedImage(TestLossless.animation([Self.usual, Self.hostile]))
        #expect(frames.estimatedBytes >= LosslessTables.limit(compressedBytes: Self.hostile.chunk.count))
    }

    @Test func lossyWebPIsNotChargedForTables() throws {
        let file = try TestImages.photo(width: 64, height: 64).encoded(as: .webp)
        let decoder = StreamingDecoder()
        try decoder.append(file.span)
        #expect(try #require(decoder.plan).estimatedBytes < 1 << 20)
    }
}
