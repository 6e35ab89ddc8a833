import AsyncWebImage
import LoopbackOrigin
import Testing

/// The effects of `ImageRequest.handlesCookies`.
@Suite(.timeLimit(.minutes(1)))
struct CookieLoadingTests {
    private func request(_ url: String, handlesCookies: Bool) -> ImageRequest {
        var request = ImageRequest(url)
        request.handlesCookies = handlesCookies
        return request
    }

    @Test func requestThatHandlesCookiesStoresAndSendsCookies() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/set", .init(headerFields: ["Set-Cookie": "taste=sweet; Path=/"], body: file))
            origin.route("/get", .init(body: file))
            let loader = ImageLoader(configuration: .patient)
            func sent(_ path: String, handlesCookies: Bool) async throws -> String? {
                _ = try await loader.data(for: request(origin.url(path), handlesCookies: handlesCookies))
                return origin.recordedRequests.last?.headerFields["Cookie"]
            }
            // Only requests that handle cookies store them.
            #expect(try await sent("/set", handlesCookies: false) == nil)
            #expect(try await sent("/get", handlesCookies: true) == nil)
            #expect(try await sent("/set", handlesCookies: true) == nil)
            #expect(try await sent("/get", handlesCookies: true) == "taste=sweet")
            // Only requests that handle cookies send them.
            #expect(try await sent("/get", handlesCookies: false) == nil)
            #expect(try await sent("/get", handlesCookies: true) == "taste=sweet")
        }
    }
}
