import Engines
import ImageCodecs
import ImageEncoders
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ImageEngineTests {
    @Test(arguments: EngineName.ofImages, [ImageFormat.jpeg, .png, .webp])
    func imageIsDecodedAndScaled(name: EngineName, format: ImageFormat) async throws {
        let file = try picture(200, 100).encoded(as: format)
        try await withEngine(name) { engine, origin in
            let engine = try #require(engine as? any ImageEngine)
            origin.route("/", Response(body: file))
            let scaled = try await engine.image(origin.url("/"), maximumSide: 64)
            #expect(scaled == PixelSize(width: 64, height: 32))
            let whole = try await engine.image(origin.url("/"), maximumSide: 500)
            #expect(whole == PixelSize(width: 200, height: 100))
        }
    }

    @Test(arguments: EngineName.ofImages)
    func nonImageBodyIsAnError(name: EngineName) async throws {
        try await withEngine(name) { engine, origin in
            let engine = try #require(engine as? any ImageEngine)
            origin.route("/", Response(body: Array("no image at all".utf8)))
            await #expect(throws: (any Error).self) { try await engine.image(origin.url("/"), maximumSide: 64) }
        }
    }

    /// The first preview arrives while the remainder of the file is held back.
    @Test(arguments: EngineName.progressive)
    func previewIsDeliveredBeforeTheDownloadEnds(name: EngineName) async throws {
        let file = try picture(320, 240).encoded(as: .jpeg, isProgressive: true)
        try await withEngine(name) { engine, origin in
            let engine = try #require(engine as? any ProgressiveEngine)
            let gate = Gate()
            origin.route("/", Response(body: file).held(at: .body(file.count * 3 / 4), until: gate))
            let size = try await engine.progressiveImage(origin.url("/")) { preview in
                #expect(preview.size == PixelSize(width: 320, height: 240))
                gate.open()
            }
            #expect(size == PixelSize(width: 320, height: 240))
        }
    }
}
