import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Requests for a current response reach the origin, every one of them.
@Suite(.timeLimit(.minutes(5)))
struct EndToEndReloadTests {
    private func loader(_ cache: ResponseCache? = nil) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        return ImageLoader(configuration: configuration)
    }

    @Test(arguments: [CachePolicy.reload, .noStore, .revalidate, .useProtocol], [true, false])
    func everyReloadSendsARequestOfItsOwn(policy: CachePolicy, isCached: Bool) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a") {
                .init(headerFields: ["Cache-Control": "max-age=0"], body: Array("\($0.ordinal)".utf8))
            }
            let loader = loader(isCached ? try .test(nil, ManualTime()) : nil)
            var request = ImageRequest(origin.url("/a"))
            request.cachePolicy = policy
            for number in 1...300 {
                let data = try await loader.data(for: request)
                #expect(String(decoding: data.bytes, as: UTF8.self) == "\(number)" && data.source == .network)
            }
            #expect(origin.counts.totalRequests == 300)
            await loader.shutdown(gracePeriod: .zero)
        }
    }

    @Test(
        arguments: [
            (.reload, "no-cache"), (.revalidate, "max-age=0"), (.useProtocol, nil), (.cacheElseLoad, nil),
            (.noStore, nil),
        ] as [(CachePolicy, String?)])
    func cachePolicySetsCacheControlOfRequests(policy: CachePolicy, directive: String?) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]))
            let loader = loader()
            var request = ImageRequest(origin.url("/a"))
            request.cachePolicy = policy
            _ = try await loader.data(for: request)
            request.headerFields[.cacheControl] = "only-if-cached"
            _ = try await loader.data(for: request)
            let sent = origin.recordedRequests.map { $0.headerFields["Cache-Control"] }
            #expect(sent == [directive, "only-if-cached"])
            await loader.shutdown(gracePeriod: .zero)
        }
    }
}
