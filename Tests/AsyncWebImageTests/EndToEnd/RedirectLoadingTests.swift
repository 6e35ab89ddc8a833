import AsyncWebImage
import HTTPTypes
import LoopbackOrigin
import Testing

/// The data that a loader's requests forward to redirect targets.
@Suite(.timeLimit(.minutes(1)))
struct RedirectLoadingTests {
    @Test(arguments: [false, true])
    func configurationSelectsHeaderFieldsSentToOtherOrigins(isNamed: Bool) async throws {
        let key = try #require(HTTPField.Name("X-Api-Key"))
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.headerFields[key] = "secret"
        if isNamed { configuration.downloads.redirectPolicy.crossOriginHeaderFields.insert(key) }
        let loader = ImageLoader(configuration: configuration)
        try await withLoopbackOrigin { (other) async throws in
            other.route("/b", .init(body: [1]))
            try await withLoopbackOrigin { (origin) async throws in
                origin.route("/a", .redirect(to: other.url("/b")))
                #expect(try await loader.data(for: ImageRequest(origin.url("/a"))).bytes == [1])
                #expect(origin.recordedRequests.map { $0.headerFields["X-Api-Key"] } == ["secret"])
                #expect(other.recordedRequests.map { $0.headerFields["X-Api-Key"] } == [isNamed ? "secret" : nil])
                #expect(other.recordedRequests.first?.headerFields["Accept"]?.contains("image/png") == true)
            }
        }
    }
}
