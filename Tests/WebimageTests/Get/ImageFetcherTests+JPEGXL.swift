#if JPEGXL
import AsyncWebImage
import ImageCodecs
import ImageEncoders
import ImageFormatJPEGXL
import LoopbackOrigin
import Testing

@testable import webimage

// JPEG XL as an output.
extension ImageFetcherTests {
    private func written(_ file: [UInt8], maximumBytes: Int? = nil) async throws -> [UInt8] {
        let format = try #require(OutputFormat(rawValue: "jpegxl"))
        let (outcome, files) = try await get(
            Response(body: file), format: format, target: .maximumSide(48), maximumBytes: maximumBytes)
        #expect(outcome.failure == nil)
        return try #require(files["photo.jxl"])
    }

    @Test func imageIsConvertedToJPEGXL() async throws {
        let file = try await written(try file(.jpeg))
        let image = try StreamingDecoder.decode(file.span, customFormats: [JPEGXLFormat()])
        #expect(image.pixels.size == PixelSize(width: 48, height: 32) && !image.header.hasAlpha)
        #expect(try await written(try self.file(.jpeg), maximumBytes: file.count - 1).count < file.count)
    }

    @Test func animationIsConvertedToJPEGXL() async throws {
        let encoder = try AnimationEncoder(format: .gif, size: PixelSize(width: 96, height: 64))
        for shade in [0, 100, 200] as [UInt8] {
            let bytes = [UInt8](repeating: shade, count: 96 * 64 * 4)
            let frame = try #require(PixelBuffer(size: PixelSize(width: 96, height: 64), bytes: bytes))
            try encoder.append(frame.converted(to: .rgba8), delay: .milliseconds(300))
        }
        let file = try await written(try encoder.finish())
        let image = try AnimatedImage(file, customFormats: [JPEGXLAnimationFormat(), JPEGXLFormat()])
        #expect((image.frameCount, image.duration) == (3, .milliseconds(900)))
    }
}
#endif
