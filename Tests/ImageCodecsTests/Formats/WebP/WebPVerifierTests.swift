import Foundation
import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(5)))
struct WebPVerifierTests {
    private func passes(_ file: [UInt8]) -> Bool { (try? ImageVerifier.verify(file.span)) != nil }

    @Test(arguments: SmallFile.webp)
    func webpVerifierFindsTruncationAnywhere(file: SmallFile) throws {
        for end in 0..<file.bytes.count {
            let cut = Array(file.bytes[..<end])
            guard passes(cut) else { continue }
            #expect(try ImageVerifier.verify(cut.span).warnings == [.missingEnd], "\(end) bytes")
            #expect(try decode(cut).pixels == decode(file.bytes).pixels, "\(end) bytes")
        }
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

    /// The content of a frame is empty, too short for a chunk, another chunk, or alpha alone.
    @Test(
        arguments: [
            [], [1, 2, 3, 4], WebPRowDecoderTests.chunk("ABCD", [1, 2]), WebPRowDecoderTests.chunk("ALPH", [0]),
        ],
        [false, true])
    func webpFrameWithoutAnImageFailsVerification(content: [UInt8], isLast: Bool) throws {
        let image = try TestImages.photo(width: 1, height: 1).encoded(as: .webp).dropFirst(12)
        let head = [UInt8](repeating: 0, count: 12) + [100, 0, 0, 0]
        let empty = WebPRowDecoderTests.chunk("ANMF", head + content)
        let frame = WebPRowDecoderTests.chunk("ANMF", head + image)
        let file = WebPRowDecoderTests.riff(
            WebPRowDecoderTests.chunk("VP8X", [0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0])
                + WebPRowDecoderTests.chunk("ANIM", [0, 0, 0, 0, 0, 0]) + frame + empty + (isLast ? [] : frame))
        let error = #expect(throws: CodecError.self) { try ImageVerifier.verify(file.span) }
        #expect(error == .corrupt(.webp, "a frame without an image"))
    }

    /// To allocate 4 GiB would end the process on small machines.
    @Test func webpVerifierReservesNoMoreThanTheLimit() throws {
        let size = WebPRowDecoderTests.number(9, 3) + WebPRowDecoderTests.number(9, 3)
        let frame = [UInt8](repeating: 0, count: 6) + size + [0, 0, 0, 0]
        let bitstream = WebPRowDecoderTests.number(9 | 9 << 14, 4)
        var file = Array("RIFF".utf8) + WebPRowDecoderTests.number(0xFFFF_FFFE, 4) + Array("WEBP".utf8)
        file += WebPRowDecoderTests.chunk("VP8X", [0x02, 0, 0, 0] + size)
        file += Array("ANMF".utf8) + WebPRowDecoderTests.number(0xFFFF_FF00, 4) + frame
        file += Array("VP8L".utf8) + WebPRowDecoderTests.number(0xFFFF_FE00, 4) + [0x2F] + bitstream
        let verifier = ImageVerifier(limits: DecodeLimits(maximumBytes: 1 << 20))
        let before = peakKilobytes
        try verifier.append(file.span)
        #expect(throws: CodecError.truncated(.webp)) { try verifier.finish() }
        #expect(peakKilobytes < before + (3 << 20))
    }

    /// The largest size of the address space of this process so far; 0 if it is unknown.
    private var peakKilobytes: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmPeak:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
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
