import AsyncWebImage
import TestSupport
import Testing

/// A server that compresses its responses.
@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)))
struct ContentEncodingTests {
    private static let compressing = "gzip on; gzip_types *; gzip_min_length 1;"

    @Test(arguments: TestSite.Version.allCases)
    func serverSendsUncompressedBodiesByDefault(version: TestSite.Version) async throws {
        let body = try Samples.file(.png)
        let site = try await TestSite(version, ["a.png": body], directives: Self.compressing)
        let loader = site.loader()
        let data = try await loader.data(for: ImageRequest(site.url("a.png")))
        #expect(data.bytes == body)
        #expect(data.head.response.headerFields[.contentEncoding] == nil)
        let image = try await loader.image(for: ImageRequest(site.url("a.png")))
        #expect(image.pixels == Samples.picture(64, 48))
    }

    @Test(arguments: TestSite.Version.allCases)
    func contentEncodingIsDecoded(version: TestSite.Version) async throws {
        let body = try Samples.file(.png)
        let site = try await TestSite(version, ["a.png": body], directives: Self.compressing)
        let loader = site.loader()
        let request = ImageRequest(site.url("a.png"), headerFields: [.acceptEncoding: "gzip"])
        let data = try await loader.data(for: request)
        #expect(data.head.response.headerFields[.contentEncoding] == "gzip")
        #expect(data.bytes == body)
        #expect(try await loader.image(for: request).pixels == Samples.picture(64, 48))
    }
}
