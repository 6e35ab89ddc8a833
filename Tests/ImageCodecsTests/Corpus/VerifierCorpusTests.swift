import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.enabled(if: Corpus.isAvailable, "set WEBIMAGE_CORPUS"), .timeLimit(.minutes(10)))
struct VerifierCorpusTests {
    static let limits = DecodeLimits(maximumSide: 100_000)

    @Test func validCorpusFilesPassVerification() throws {
        var count = 0
        for file in try Corpus.files() where file.isValid {
            do throws(CodecError) {
                let header = try ImageVerifier.verify(bytes(file).span, limits: Self.limits)
                count += 1
                #expect(header.format == file.format, "\(file.path)")
                if let width = file.width, let height = file.height {
                    #expect(header.size == PixelSize(width: width, height: height), "\(file.path)")
                }
                if let frames = file.frames { #expect(header.frameCount == frames, "\(file.path)") }
                let bytes = bytes(file)
                if bytes.count <= 16 << 10 { #expect(isDecodable(bytes, Self.limits), "\(file.path)") }
            } catch .unsupportedFeature {
            } catch {
                Issue.record("\(file.path): \(error)")
            }
        }
        print("\(count) valid files pass")
    }

    /// Each file that a download stores can be converted: every frame of a file that passes, and the reduced image.
    @Test func malformedCorpusFilesPassVerificationOnlyIfDecodable() throws {
        let limits = DecodeLimits(maximumPixels: 1 << 22, maximumFrames: 100)
        var (passed, stricter) = (0, 0)
        for file in try Corpus.files() where !file.isValid {
            let bytes = bytes(file)
            let isWhole = (try? ImageVerifier.verify(bytes.span, limits: limits)) != nil
            let decodes = isDecodable(bytes, limits)
            // Its colors are up to the reader.
            if file.path.hasSuffix("no_palette.gif") { continue }
            #expect(!isWhole || decodes, "\(file.path)")
            passed += isWhole ? 1 : 0
            stricter += decodes && !isWhole ? 1 : 0
        }
        print("\(passed) malformed files pass, \(stricter) more can be decoded")
    }

    private func isDecodable(_ bytes: [UInt8], _ limits: DecodeLimits) -> Bool {
        let small = DecodeOptions(target: .maximumSide(4))
        return (try? AnimatedImage(bytes, limits: limits).allFrames()) != nil
            && (try? decode(bytes, options: small, limits: limits)) != nil
    }

    private func bytes(_ file: Corpus.File) -> [UInt8] { (try? file.bytes()) ?? [] }
}
