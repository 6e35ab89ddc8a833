import ImageTestSupport
import Testing

@testable import ImageCodecs

/// A header at the very end of a file, behind metadata: searching ever longer beginnings takes time, so the header may
/// be found only at the end of the file.
@Suite(.timeLimit(.minutes(1)))
struct LateHeaderTests {
    /// A GIF of two frames behind more than 4 KiB of comments.
    private var file: [UInt8] {
        let gif = TestGIF(width: 2, height: 2)
        let plain = gif.file([
            .init(width: 2, height: 2, indices: [0, 1, 0, 1]), .init(width: 1, height: 1, indices: [1]),
        ])
        let comment = (0..<20).flatMap { _ in [UInt8](repeating: 255, count: 256) }
        return plain[..<19] + [0x21, 0xFE] + comment + [0] + plain[19...]
    }

    @Test(arguments: [1, 7, 100, 1_000, 100_000])
    func frameAfterLongMetadataIsFoundInPiecesOfAnySize(piece: Int) throws {
        let file = file
        var animation = StreamingAnimation()
        let verifier = ImageVerifier()
        for start in stride(from: 0, to: file.count, by: piece) {
            let bytes = file.span.extracting(start..<min(start + piece, file.count))
            try animation.append(bytes)
            try verifier.append(bytes)
        }
        #expect(try animation.finish().frameCount == 2)
        #expect(try verifier.finish().frameCount == 2)
    }

    @Test func memoryOfLateHeaderIsEstimatedBeforeDecoding() throws {
        let decoder = StreamingDecoder()
        let verifier = ImageVerifier()
        for byte in file {
            try decoder.append([byte].span)
            try verifier.append([byte].span)
        }
        #expect(decoder.plan == nil && verifier.estimatedBytes == nil)
        try decoder.lookForHeaderAtEnd()
        try verifier.lookForHeaderAtEnd()
        #expect(decoder.plan?.storedSize == PixelSize(width: 2, height: 2))
        #expect(verifier.estimatedBytes != nil && verifier.header?.size == PixelSize(width: 2, height: 2))
        #expect(try decoder.finish().pixels.size == PixelSize(width: 2, height: 2))
    }

    @Test func fileEndingBeforeItsLateHeaderIsTruncated() throws {
        let cut = Array(file.prefix(4_200))
        let decoder = StreamingDecoder()
        try decoder.append(cut.span)
        try decoder.lookForHeaderAtEnd()
        #expect(decoder.plan == nil)
        #expect(throws: CodecError.truncated(.gif)) { try decoder.finish() }
        var animation = StreamingAnimation()
        try animation.append(cut.span)
        #expect(throws: CodecError.truncated(.gif)) { try animation.finish() }
    }
}
