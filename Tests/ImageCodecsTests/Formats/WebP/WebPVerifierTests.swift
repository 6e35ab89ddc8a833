import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(5)))
struct WebPVerifierTests {
    private func passes(_ file: [UInt8]) -> Bool { (try? ImageVerifier.verify(file.span)) != nil }

    @Test(arguments: SmallFile.webp)
    func webpVerifierFindsTruncationAnywhere(file: SmallFile) {
        for end in 0..<file.bytes.count { #expect(!passes(Array(file.bytes[..<end])), "\(end) bytes") }
    }

    @Test func losslessWebPPassesVerification() throws {
        for hasAlpha in [false, true] {
            let image = try TestImages.drawing(width: 31, height: 17, hasAlpha: hasAlpha)
            let file = try image.encoded(with: .webp(WebPOptions(isLossless: true)))
            #expect(passes(file))
        }
    }

    @Test func webpVerifierDecodesEveryFrame() throws {
        let file = try TestAnimation.file(.webp, count: 3)
        let last = try file.indices.dropLast(3).last {
            file[$0...].starts(with: Array("ANMF".utf8))
        }.unwrapped()
        // The signature of the last frame's bitstream.
        let chunk = last + 24
        var damaged = file
        damaged[chunk + 8] ^= 0xFF
        damaged[chunk + 11] ^= 0xFF
        #expect(passes(file) && !passes(damaged))
    }

    @Test func webpVerifierReportsOrientationAfterThePixels() throws {
        let file = try TestAnimation.webp(
            TestAnimation.layers(2, seed: 1, alphas: [255]), exif: TestExif.bytes(orientation: 6))
        let header = try ImageVerifier.verify(file.span)
        #expect(header.orientation == .right && !header.hasTrailingOrientation && header.frameCount == 2)
    }

    @Test func webpVerifierMemoryIncludesLibwebp() throws {
        func estimate(_ file: [UInt8]) throws -> Int {
            let verifier = ImageVerifier()
            try verifier.append(file.span)
            return try verifier.estimatedBytes.unwrapped()
        }
        let image = try TestImages.photo(width: 640, height: 480)
        let lossy = try estimate(image.encoded(as: .webp, quality: 50))
        let lossless = try estimate(image.encoded(with: .webp(WebPOptions(isLossless: true))))
        #expect(lossy < 640 * 480 * 4)
        #expect(lossless > 640 * 480 * 4)
    }
}
