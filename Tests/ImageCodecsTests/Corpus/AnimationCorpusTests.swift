import Hashing
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.enabled(if: Corpus.isAvailable, "set WEBIMAGE_CORPUS"), .timeLimit(.minutes(10)))
struct AnimationCorpusTests {
    static let formats: [ImageFormat] = [.gif, .png, .webp]

    /// The rows of `frames.tsv` by file, in the order of the frames.
    static func references() throws -> [String: [[String: String]]] {
        Dictionary(grouping: try Corpus.table("frames.tsv")) { $0["path"] ?? "" }
    }

    @Test(arguments: formats)
    func everyFrameOfValidCorpusAnimationsEqualsTheReference(format: ImageFormat) throws {
        var (matching, count) = (0, 0)
        let references = try Self.references()
        for file in try Corpus.files() where file.isValid && file.format == format {
            guard let rows = references[file.path] else { continue }
            do {
                let options = DecodeOptions(ignoresOrientation: true, keepsProfile: true)
                let image = try AnimatedImage(file.bytes(), options: options)
                #expect(image.frameCount == rows.count, "\(file.path)")
                let decoder = AnimationDecoder(image, windowBytes: 0)
                for (index, row) in rows.prefix(image.frameCount).enumerated() {
                    count += 1
                    let hash = SHA256.hash(try decoder.frame(at: index).bytes.clearingTransparentColors()).hexadecimal
                    let isEqual = hash == row["rgba8_alpha0zeroed_sha256"]
                    #expect(isEqual, "\(file.path), frame \(index)")
                    matching += isEqual ? 1 : 0
                    if case .animated(let animation, _, _) = image.content {
                        let delay = animation.frames[index].delay / .milliseconds(1)
                        let reference = row["delay_ms"].flatMap(Double.init) ?? -1
                        #expect(abs(delay - reference) < 0.01, "\(file.path), frame \(index)")
                    }
                }
            } catch {
                Issue.record("\(file.path): \(error)")
            }
        }
        #expect(count > 0)
        print("\(format), frames: \(matching) of \(count) equal their reference")
    }

    @Test(arguments: formats)
    func malformedCorpusAnimationsGiveAnErrorOrFrames(format: ImageFormat) throws {
        let limits = DecodeLimits(maximumPixels: 1 << 20, maximumFrames: 100)
        var (animations, errors) = (0, 0)
        for file in try Corpus.files() where !file.isValid {
            let bytes = try file.bytes()
            guard ImageFormat(signature: bytes.span) == format else { continue }
            do throws(CodecError) {
                let image = try AnimatedImage(bytes, options: DecodeOptions(target: .maximumSide(50)), limits: limits)
                let frames = try image.allFrames()
                #expect(frames.count == image.frameCount)
                #expect(frames.allSatisfy { $0.size == image.size && max($0.width, $0.height) <= 50 }, "\(file.path)")
                #expect(image.header.size.area <= 1 << 20 && image.frameCount <= 100, "\(file.path)")
                animations += 1
            } catch {
                #expect(error.isOfTheFile, "\(file.path): \(error)")
                errors += 1
            }
        }
        #expect(animations > 0 && errors > 0)
        print("\(format), malformed: \(animations) animations, \(errors) errors")
    }
}

extension [UInt8] {
    /// RGBA with black where alpha is zero.
    fileprivate func clearingTransparentColors() -> [UInt8] {
        var bytes = self
        for alpha in stride(from: 3, to: count, by: 4) where bytes[alpha] == 0 {
            for channel in 1...3 { bytes[alpha - channel] = 0 }
        }
        return bytes
    }
}
