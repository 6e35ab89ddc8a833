import ImageEncoders
import LoopbackOrigin
import Testing

@testable import AsyncWebImage
import ImageCodecs

/// Downloads of which a decode needs only the beginning.
@Suite(.timeLimit(.minutes(1)))
struct EarlyStopTests {
    private let options = DecodeOptions(target: .maximumSide(40), stopsWhenComplete: true)

    /// A progressive JPEG, and how much of it a small image needs.
    private func photograph() throws -> (file: [UInt8], needed: Int) {
        let file = try Samples.picture(640, 480).encoded(as: .jpeg, quality: 95, isProgressive: true)
        let codec = StreamingDecoder(options: options)
        var needed = 0
        while needed < file.count, !codec.needsNoMoreBytes {
            let end = min(needed + 100, file.count)
            try codec.append(file.span.extracting(needed..<end))
            try codec.begin()
            needed = end
        }
        return (file, needed)
    }

    @Test func theDownloadStopsWithTheLastByteThatIsNeeded() async throws {
        try await withLoopbackOrigin { origin in
            let (file, needed) = try photograph()
            #expect(needed < file.count * 3 / 4)
            origin.route("/a.jpg", .init(body: file).stalled(at: .body(needed)))
            let loader = ImageLoader(configuration: .patient)
            let response = try await loader.image(for: ImageRequest(origin.url("/a.jpg"), options: options))
            #expect(response.pixels.width == 40)
            #expect(response.byteCount == needed)
            await origin.openConnections(become: 0)
            await loader.coordinator.becomesIdle()
            #expect(await loader.decoder.memoryInUse == 0)
        }
    }

    @Test func frameStreamEndsWithAnEarlyStop() async throws {
        try await withLoopbackOrigin { origin in
            let (file, needed) = try photograph()
            origin.route("/a.jpg", .init(body: file).stalled(at: .body(needed)))
            let loader = ImageLoader(configuration: .patient)
            var isFinal = false
            for try await frame in loader.previews(for: ImageRequest(origin.url("/a.jpg"), options: options)) {
                isFinal = frame.isFinal
            }
            #expect(isFinal)
            await origin.openConnections(become: 0)
        }
    }

    @Test func otherCallersGetTheRemainderAfterAnEarlyStop() async throws {
        try await withLoopbackOrigin { origin in
            let (file, needed) = try photograph()
            let gate = Gate()
            origin.route("/a.jpg", .init(body: file).held(at: .body(needed), until: gate))
            let loader = ImageLoader(configuration: .patient)
            let url = origin.url("/a.jpg")
            async let data = loader.data(for: ImageRequest(url))
            async let whole = loader.image(for: ImageRequest(url, maximumSide: 40))
            await loader.coordinator.callers(reach: 2)
            let small = try await loader.image(for: ImageRequest(url, options: options))
            gate.open()
            #expect(try await whole.pixels == small.pixels)
            #expect(try await data.bytes == file)
            #expect(origin.counts.totalRequests == 1)
        }
    }
}
