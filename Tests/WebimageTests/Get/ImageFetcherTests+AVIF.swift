#if AVIF
import AsyncWebImage
import ImageCodecs
import ImageEncoders
import ImageFormatAVIF
import ImageTestSupport
import LoopbackOrigin
import Testing

@testable import webimage

// AVIF as an output, and with a gain map.
extension ImageFetcherTests {
    private func written(_ file: [UInt8], maximumBytes: Int? = nil) async throws -> [UInt8] {
        let format = try #require(OutputFormat(rawValue: "avif"))
        let (outcome, files) = try await get(
            Response(body: file), format: format, target: .maximumSide(48), maximumBytes: maximumBytes)
        #expect(outcome.failure == nil)
        return try #require(files["photo.avif"])
    }

    @Test func imageIsConvertedToAVIF() async throws {
        let file = try await written(try file(.jpeg))
        let image = try StreamingDecoder.decode(file.span, customFormats: [AVIFFormat()])
        #expect(image.pixels.size == PixelSize(width: 48, height: 32) && !image.header.hasAlpha)
        #expect(try await written(try self.file(.jpeg), maximumBytes: file.count - 1).count < file.count)
    }

    @Test func animationIsConvertedToAVIF() async throws {
        let encoder = try AnimationEncoder(format: .gif, size: PixelSize(width: 96, height: 64))
        for shade in [0, 100, 200] as [UInt8] {
            let bytes = [UInt8](repeating: shade, count: 96 * 64 * 4)
            let frame = try #require(PixelBuffer(size: PixelSize(width: 96, height: 64), bytes: bytes))
            try encoder.append(frame.converted(to: .rgba8), delay: .milliseconds(300))
        }
        let file = try await written(try encoder.finish())
        let image = try AnimatedImage(file, customFormats: [AVIFFormat()])
        #expect((image.frameCount, image.duration) == (3, .milliseconds(900)))
    }

    @Test func recordOfAConvertedAVIFSaysThatItsGainMapIsDropped() async throws {
        let plain = try #require(photograph).encoded(with: .avif())
        let mapped = try TestItems.adding(item: "tmap", to: plain)
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/plain", Response(body: plain))
            origin.route("/mapped", Response(body: mapped))
            try await withTemporaryFolder { folder in
                let fetcher = try fetcher(folder, format: .jpeg)
                for (path, fate) in [("/plain", "null"), ("/mapped", "\"dropped\"")] {
                    let outcome = try await fetcher.get(ImageSource(argument: origin.url(path)))
                    #expect(outcome.error == nil && outcome.outputFormat == "jpeg")
                    #expect(outcome.json.contains("\"gain_map\":\(fate),"), "\(outcome.json)")
                }
            }
        }
    }
}
#endif
