import Hashing
import Testing

@testable import ImageCodecs

@Suite(.enabled(if: Corpus.isAvailable, "set WEBIMAGE_CORPUS"))
struct PixelCorpusTests {
    static let formats: [ImageFormat] = [.png, .webp, .gif]
    static let limits = DecodeLimits(maximumSide: 100_000)

    @Test(arguments: formats)
    func validCorpusFilesDecodeToTheReferencePixels(format: ImageFormat) throws {
        var matching = 0
        let files = try Corpus.files().filter { $0.isValid && $0.format == format }
        for file in files {
            let bytes = try file.bytes()
            do {
                let decoded = try decodeRows(bytes, step: 4096, limits: Self.limits)
                #expect(decoded.frameCount == file.frames, "\(file.path)")
                let isEqual = SHA256.hash(decoded.bytes).hexadecimal == file.rgba8
                #expect(isEqual, "\(file.path)")
                matching += isEqual ? 1 : 0
            } catch {
                Issue.record("\(file.path): \(error)")
            }
        }
        #expect(!files.isEmpty)
        print("\(format): \(matching) of \(files.count) equal their reference")
    }

    @Test(arguments: formats)
    func malformedCorpusFilesGiveAnErrorOrAnImage(format: ImageFormat) throws {
        var limits = DecodeLimits()
        limits.maximumPixels = 16 << 20
        var (images, errors) = (0, 0)
        for file in try Corpus.files() where !file.isValid {
            let bytes = try file.bytes()
            guard ImageFormat(signature: bytes.span) == format else { continue }
            do throws(CodecError) {
                let image = try decodeRows(bytes, step: 1024, limits: limits)
                #expect(image.size == image.header.size && image.size.area <= limits.maximumPixels, "\(file.path)")
                images += 1
            } catch {
                #expect(error.isOfTheFile, "\(file.path): \(error)")
                errors += 1
            }
        }
        #expect(images > 0 && errors > 0)
        print("\(format), malformed: \(images) images, \(errors) errors")
    }
}
