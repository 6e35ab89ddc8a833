import LoopbackOrigin
import QOI
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
import ImageCodecs
@testable import ResponseCache

/// RFC 5861, section 3: a stale response is served at once, and one request brings it up to date.
@Suite(.timeLimit(.minutes(2)))
struct StaleWhileRevalidateTests {
    private let time = ManualTime()

    private func loader(_ cache: ResponseCache, _ formats: [any CustomFormat] = []) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        configuration.decoding.customFormats = formats
        return ImageLoader(configuration: configuration)
    }

    /// Returns a handler that responds to each request with its number.
    private func numbered(_ control: String) -> @Sendable (LoopbackOrigin.Request) -> LoopbackOrigin.Response {
        { .init(headerFields: ["Cache-Control": control, "ETag": "\"\($0.ordinal)\""], body: [UInt8($0.ordinal)]) }
    }

    /// Returns a handler whose second response replaces the first, or confirms it.
    private func versions(
        _ bodies: [[UInt8]], _ isReplaced: Bool
    ) -> @Sendable (LoopbackOrigin.Request) -> LoopbackOrigin.Response {
        { request in
            let fields: HeaderFields = ["Cache-Control": "max-age=10, stale-while-revalidate=60", "ETag": "\"1\""]
            guard request.ordinal > 1 else { return .init(headerFields: fields, body: bodies[0]) }
            return isReplaced
                ? .init(headerFields: fields, body: bodies[1]) : .init(status: 304, headerFields: fields, body: [])
        }
    }

    @Test(arguments: [true, false]) func theStaleResponseIsServedAndRenewed(onDisk: Bool) async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                let cache = try ResponseCache.test(onDisk ? folder : nil, time)
                let loader = loader(cache)
                origin.route("/a", numbered("max-age=10, stale-while-revalidate=60"))
                let request = ImageRequest(origin.url("/a"))
                #expect(try await loader.data(for: request).bytes == [1])
                await loader.coordinator.becomesIdle()
                time.advance(by: 20)
                let stale = try await loader.data(for: request)
                #expect(stale.bytes == [1] && stale.source == cache.source)
                #expect(stale.head.response.headerFields[.age] == "20")
                await loader.coordinator.becomesIdle()
                await cache.settles()
                let sent = origin.recordedRequests
                #expect(sent.count == 2 && sent[1].headerFields["If-None-Match"] == "\"1\"")
                #expect(try await loader.data(for: request).bytes == [2])
                #expect(origin.counts.totalRequests == 2)
                await loader.shutdown(gracePeriod: .zero)
            }
        }
    }

    @Test(arguments: [true, false]) func imagesOfAReplacedResponseAreRemoved(isReplaced: Bool) async throws {
        try await withLoopbackOrigin { origin in
            let loader = loader(try ResponseCache.test(nil, time))
            let bodies = [try Samples.file(.png, 20, 10), try Samples.file(.png, 30, 10)]
            origin.route("/a", versions(bodies, isReplaced))
            let request = ImageRequest(origin.url("/a"))
            #expect(try await loader.image(for: request).pixels.size.width == 20)
            await loader.coordinator.becomesIdle()
            time.advance(by: 20)
            // A request for the decoded image would not reach the response cache.
            #expect(try await loader.data(for: request).bytes == bodies[0])
            await loader.coordinator.becomesIdle()
            #expect((loader.cachedImage(for: request) == nil) == isReplaced)
            #expect(try await loader.image(for: request).pixels.size.width == (isReplaced ? 30 : 20))
            await loader.shutdown(gracePeriod: .zero)
        }
    }

    @Test(arguments: [true, false]) func imagesDecodedAfterTheirReplacementAreNotCached(isReplaced: Bool) async throws {
        try await withLoopbackOrigin { origin in
            let decodes = BlockingQueue<Void>()
            defer { decodes.close() }
            let loader = loader(try ResponseCache.test(nil, time), [HeldFormat(decodes)])
            let bodies = [Samples.picture(20, 10).qoi(), Samples.picture(30, 10).qoi()]
            origin.route("/a", versions(bodies, isReplaced))
            let request = ImageRequest(origin.url("/a"))
            _ = try await loader.data(for: request)
            await loader.coordinator.becomesIdle()
            time.advance(by: 20)
            async let stale = loader.image(for: request)
            // The revalidation ends before the decode of the stale response.
            await origin.requests(to: "/a", reach: 2)
            await loader.coordinator.activity { $0.running == 0 && $0.callers == 1 }
            decodes.close()
            #expect(try await stale.pixels.size.width == 20)
            await loader.coordinator.becomesIdle()
            #expect((loader.cachedImage(for: request) == nil) == isReplaced)
            #expect(try await loader.image(for: request).pixels.size.width == (isReplaced ? 30 : 20))
            #expect(loader.cachedImage(for: request)?.pixels.size.width == (isReplaced ? 30 : 20))
            #expect(origin.counts.totalRequests == 2)
            await loader.shutdown(gracePeriod: .zero)
        }
    }

    @Test func manyStaleResponsesOfOneURLCauseOneRequest() async throws {
        try await withLoopbackOrigin { origin in
            let cache = try ResponseCache.test(nil, time)
            let loader = loader(cache)
            let gate = Gate()
            let numbered = numbered("max-age=10, stale-while-revalidate=60")
            origin.route("/a") { $0.ordinal == 1 ? numbered($0) : numbered($0).held(at: .start, until: gate) }
            let request = ImageRequest(origin.url("/a"))
            _ = try await loader.data(for: request)
            await loader.coordinator.becomesIdle()
            time.advance(by: 20)
            for _ in 0..<20 { #expect(try await loader.data(for: request).bytes == [1]) }
            await origin.requests(to: "/a", reach: 2)
            gate.open()
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 2)
            await loader.shutdown(gracePeriod: .zero)
        }
    }

    @Test func responseBeyondStaleWhileRevalidateIsFetchedFirst() async throws {
        try await withLoopbackOrigin { origin in
            let loader = loader(try ResponseCache.test(nil, time))
            origin.route("/a", numbered("max-age=10, stale-while-revalidate=5"))
            let request = ImageRequest(origin.url("/a"))
            _ = try await loader.data(for: request)
            await loader.coordinator.becomesIdle()
            time.advance(by: 16)
            #expect(try await loader.data(for: request).bytes == [2])
            await loader.shutdown(gracePeriod: .zero)
        }
    }

    @Test func aShutdownEndsTheRevalidation() async throws {
        try await withLoopbackOrigin { origin in
            let loader = loader(try ResponseCache.test(nil, time))
            let numbered = numbered("max-age=10, stale-while-revalidate=60")
            origin.route("/a") { $0.ordinal == 1 ? numbered($0) : numbered($0).stalled(at: .start) }
            let request = ImageRequest(origin.url("/a"))
            _ = try await loader.data(for: request)
            await loader.coordinator.becomesIdle()
            time.advance(by: 20)
            _ = try await loader.data(for: request)
            await origin.requests(to: "/a", reach: 2)
            await loader.shutdown(gracePeriod: .seconds(3_600))
            await origin.openConnections(become: 0)
        }
    }
}

/// A QOI format whose decodes wait until a queue is closed.
private struct HeldFormat: CustomFormat {
    private let qoi = QOIFormat()
    private let decodes: BlockingQueue<Void>

    init(_ decodes: BlockingQueue<Void>) { self.decodes = decodes }

    var format: ImageFormat { qoi.format }

    func recognizes(_ beginning: Span<UInt8>) -> Bool { qoi.recognizes(beginning) }

    func header(of beginning: Span<UInt8>) throws(CodecError) -> ImageHeader? { try qoi.header(of: beginning) }

    func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        qoi.workingBytes(of: header, rowSize: rowSize)
    }

    func decoder(for header: ImageHeader, rowSize: PixelSize) -> any CustomRowDecoder {
        _ = decodes.next()
        return qoi.decoder(for: header, rowSize: rowSize)
    }
}
