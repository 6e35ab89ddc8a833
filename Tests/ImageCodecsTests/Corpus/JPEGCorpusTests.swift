import Hashing
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.enabled(if: Corpus.isAvailable, "set WEBIMAGE_CORPUS"), .timeLimit(.minutes(10)))
struct JPEGCorpusTests {
    static let limits = DecodeLimits(maximumSide: 100_000)

    @Test func validCorpusJPEGsDecodeToThePixelsOfDjpeg() throws {
        var (matching, count) = (0, 0)
        for row in try Corpus.table("manifest.tsv") where row["class"] == "valid" && row["format"] == "jpeg" {
            guard let path = row["path"], let reference = row["rgb8_djpeg_sha256"], !reference.isEmpty else { continue }
            let file = try Corpus.files().first { $0.path == path }
            let bytes = try #require(try file?.bytes())
            count += 1
            do {
                let options = DecodeOptions(ignoresOrientation: true, keepsProfile: true)
                let image = try decode(bytes, options: options, limits: Self.limits) {
                    5000
                }
                let isEqual = SHA256.hash(image.pixels.rgb).hexadecimal == reference
                #expect(isEqual, "\(path)")
                matching += isEqual ? 1 : 0
            } catch {
                Issue.record("\(path): \(error)")
            }
        }
        #expect(count > 0)
        print("jpeg: \(matching) of \(count) equal djpeg")
    }

    @Test func corpusJPEGsAreDecodedUpright() throws {
        for row in try Corpus.table("orient.tsv") {
            guard let path = row["path"], let reference = row["rgba8_oriented_sha256"] else { continue }
            guard let file = try Corpus.files().first(where: { $0.path == path }), file.format == .jpeg else {
                continue
            }
            let bytes = try file.bytes()
            let image = try decode(bytes, options: DecodeOptions(keepsProfile: true))
            #expect(SHA256.hash(image.pixels.bytes).hexadecimal == reference, "\(path)")
        }
    }

    @Test func malformedCorpusJPEGsGiveAnErrorOrAnImage() throws {
        var limits = DecodeLimits()
        limits.maximumPixels = 16 << 20
        var (images, errors) = (0, 0)
        for file in try Corpus.files() where !file.isValid {
            let bytes = try file.bytes()
            guard file.format == .jpeg || ImageFormat(signature: bytes.span) == .jpeg else { continue }
            do throws(CodecError) {
                let image = try decode(bytes, options: DecodeOptions(target: .maximumSide(300)), limits: limits) {
                    1000
                }
                let side = max(image.header.size.width, image.header.size.height)
                #expect(max(image.pixels.width, image.pixels.height) == min(side, 300), "\(file.path)")
                #expect(image.header.size.area <= limits.maximumPixels && !image.isPartial, "\(file.path)")
                images += 1
            } catch {
                #expect(error.isOfTheFile, "\(file.path): \(error)")
                errors += 1
            }
        }
        #expect(images > 0 && errors > 0)
        print("jpeg, malformed: \(images) images, \(errors) errors")
    }
}
