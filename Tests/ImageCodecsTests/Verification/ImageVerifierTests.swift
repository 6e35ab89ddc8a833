import ImageEncoders
import ImageTestSupport
import QOI
import Testing

@testable import ImageCodecs

/// The protocol of a verifier, the same for all formats.
@Suite(.timeLimit(.minutes(5)))
struct ImageVerifierTests {
    static let files = SmallFile.jpeg + SmallFile.png + SmallFile.webp + SmallFile.gif

    @Test(arguments: files)
    func completeFilesPassVerificationWithTheirFrameCount(file: SmallFile) throws {
        let header = try ImageVerifier.verify(file.bytes.span)
        let image = try AnimatedImage(file.bytes)
        #expect(header.size == image.header.size && header.format == image.header.format)
        #expect(header.frameCount == image.frameCount)
    }

    @Test(arguments: files)
    func verificationDoesNotDependOnPieceSizes(file: SmallFile) throws {
        #expect(answer(file.bytes, step: .max).header != nil)
        for step in [1, 7, 100] {
            #expect(answer(file.bytes, step: step) == answer(file.bytes, step: .max))
        }
        for end in file.bytes.indices {
            let cut = Array(file.bytes[..<end])
            #expect(answer(cut, step: 1) == answer(cut, step: .max), "\(end) bytes")
        }
    }

    /// Files that a verifier accepts can be decoded strictly with all frames; in pieces the result is the same.
    @Test(arguments: files)
    func damagedFilesThatPassVerificationCanBeDecoded(file: SmallFile) throws {
        try #require(!file.bytes.isEmpty)
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var bytes = file.bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let offset = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0: bytes[offset] = .random(in: 0...255, using: &random)
                case 1: bytes[offset] = 0xFF
                case 2: bytes.remove(at: offset)
                case 3: bytes.insert(.random(in: 0...255, using: &random), at: offset)
                default: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
            let whole = answer(bytes, step: .max)
            #expect(answer(bytes, step: 1 + bytes.count / 5).header == whole.header, "seed \(seed)")
            guard whole.header != nil else { continue }
            #expect(throws: Never.self, "seed \(seed)") {
                _ = try AnimatedImage(bytes, limits: Self.limits).allFrames()
                _ = try decode(bytes, options: DecodeOptions(target: .maximumSide(4)), limits: Self.limits)
            }
        }
    }

    private static let limits = DecodeLimits(
        maximumPixels: 1 << 14, maximumBytes: 1 << 16, maximumScans: 20, maximumFrames: 20,
        maximumWork: 1 << 17)

    /// Returns the result of a verifier.
    private struct Answer: Equatable {
        var header: ImageHeader?
        var error: CodecError?
    }

    private func answer(_ bytes: [UInt8], step: Int) -> Answer {
        let verifier = ImageVerifier(limits: Self.limits)
        do throws(CodecError) {
            var offset = 0
            while offset < bytes.count {
                let end = offset + min(step, bytes.count - offset)
                try verifier.append(bytes.span.extracting(offset..<end))
                if verifier.header != nil { try verifier.begin() }
                offset = end
            }
            return Answer(header: try verifier.finish())
        } catch {
            return Answer(error: error)
        }
    }

    @Test func verifierChecksNothingBeforeBegin() throws {
        var file = try TestImages.photo(width: 40, height: 30).encoded(as: .png)
        let last = try #require(file.indices.last)
        file[last - 16] ^= 1
        let verifier = ImageVerifier()
        #expect(verifier.header == nil && verifier.estimatedBytes == nil)
        try verifier.begin()
        try verifier.append(file.span)
        #expect(verifier.header?.size == PixelSize(width: 40, height: 30))
        #expect(try #require(verifier.estimatedBytes) > 0)
        #expect(throws: CodecError.self) { try verifier.begin() }
    }

    @Test func verifierErrorIsThrownAgain() throws {
        let verifier = ImageVerifier()
        let text = Array("<!DOCTYPE html><html>".utf8)
        #expect(throws: CodecError.notAnImage(lookingLike: "HTML")) { try verifier.append(text.span) }
        #expect(throws: CodecError.notAnImage(lookingLike: "HTML")) { try verifier.begin() }
        #expect(throws: CodecError.notAnImage(lookingLike: "HTML")) { try verifier.finish() }
    }

    @Test func filesOfMoreBytesThanAllowedFail() throws {
        let file = try TestImages.photo(width: 40, height: 30).encoded(as: .png)
        let limits = DecodeLimits(maximumBytes: file.count - 1)
        #expect(throws: CodecError.overLimit(.bytes, value: file.count, limit: file.count - 1)) {
            try ImageVerifier.verify(file.span, limits: limits)
        }
    }

    @Test func verifierRequiresAllRowsOfCustomFormats() throws {
        let image = try TestImages.photo(width: 20, height: 10)
        let file = image.qoi()
        #expect(try ImageVerifier.verify(file.span, customFormats: [QOIFormat()]).size == image.size)
        // The rows end before the eight bytes that end the file.
        for end in stride(from: 20, to: file.count - 8, by: 13) {
            let cut = Array(file[..<end])
            #expect(throws: CodecError.self, "\(end) bytes") {
                try ImageVerifier.verify(cut.span, customFormats: [QOIFormat()])
            }
        }
    }

    @Test func anEmptyFileIsNoImage() {
        #expect(throws: CodecError.notAnImage(lookingLike: "an empty file")) {
            try ImageVerifier().finish()
        }
    }
}
