import AsyncWebImage
import HTTPTransport
import HTTPTypes
import ImageCodecs
import ImageEncoders
import ImageTestSupport
import LoopbackOrigin
import Testing

@testable import ThumbnailService

@Suite(.timeLimit(.minutes(4)))
struct ImageServiceTests {
    private func picture() throws -> LoopbackOrigin.Response {
        .init(
            headerFields: ["Cache-Control": "max-age=600"],
            body: try TestImages.photo(width: 64, height: 48).encoded(as: .png))
    }

    /// Returns a service that may load from this machine.
    private func service(
        _ change: (inout ImageLoader.Configuration) -> Void = { _ in }
    ) throws -> ImageService {
        var configuration = try ImageService.configuration(hosts: ["127.0.0.1"], cacheFolder: nil)
        configuration.transport.policy.addresses.insert(.allow("127.0.0.1/32"), at: 0)
        configuration.downloads.retry = nil
        change(&configuration)
        return ImageService(configuration, token: "secret")
    }

    private func request(
        _ path: String, _ url: String, _ parameters: String = "", fields: HTTPFields = [:], method: String = "GET"
    ) -> ServerRequest {
        ServerRequest(method: method, target: "\(path)?url=\(url)\(parameters)", fields: fields)
    }

    @Test func thumbnailHasTheRequestedSizeAndTheBestAcceptedFormat() async throws {
        let (service, picture) = (try service(), try picture())
        try await withLoopbackOrigin { origin in
            origin.route("/image", picture)
            let response = await service.answer(
                request(
                    "/thumbnail", origin.url("/image"), "&width=32&height=32&fit=cover",
                    fields: [.accept: "image/jpeg"]))
            #expect(response.status == 200)
            #expect(response.fields[.contentType] == "image/jpeg")
            #expect(response.fields[.vary] == "Accept")
            #expect(response.fields[.cacheControl]?.contains("max-age=") == true)
            let thumbnail = try decode(response.body)
            #expect(thumbnail.pixels.size == PixelSize(width: 32, height: 32))
            let webp = await service.answer(request("/thumbnail", origin.url("/image"), "&width=16&format=webp"))
            let format = try decode(webp.body).header.format
            #expect(format == .webp)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func thumbnailsCanBeTransformed() async throws {
        let (service, picture) = (try service(), try picture())
        try await withLoopbackOrigin { origin in
            origin.route("/image", picture)
            let response = await service.answer(
                request("/thumbnail", origin.url("/image"), "&format=png&rotate=90&blur=2&radius=8&gray=1"))
            let pixels = try decode(response.body).pixels
            #expect(pixels.size == PixelSize(width: 48, height: 64))
            #expect(pixels.bytes.prefix(4).last == 0, "the corner is not rounded")
            let refused = await service.answer(request("/thumbnail", origin.url("/image"), "&rotate=45"))
            #expect(refused.status == 422)
        }
    }

    @Test func knownThumbnailIsNotModified() async throws {
        let (service, picture) = (try service(), try picture())
        try await withLoopbackOrigin { origin in
            origin.route("/image", picture)
            let tag = try #require(await service.answer(request("/thumbnail", origin.url("/image"))).fields[.eTag])
            for known in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let response = await service.answer(
                    request("/thumbnail", origin.url("/image"), fields: [.ifNoneMatch: known]))
                #expect(response.status == 304)
                #expect(response.body.isEmpty)
                #expect(response.fields[.eTag] == tag)
            }
            let response = await service.answer(
                request("/thumbnail", origin.url("/image"), fields: [.ifNoneMatch: "\"other\""]))
            #expect(response.status == 200)
        }
    }

    @Test func signedURLsOfOneImageShareWhatIsStored() async throws {
        let (service, picture) = (try service(), try picture())
        try await withLoopbackOrigin { origin in
            origin.route("/image", picture)
            for signature in ["a", "b"] {
                let url = origin.url("/image?v=1%26X-Amz-Signature=\(signature)%26X-Amz-Date=\(signature)")
                #expect(await service.answer(request("/thumbnail", url)).status == 200)
            }
            #expect(origin.recordedRequests.map(\.query) == ["v=1&X-Amz-Signature=a&X-Amz-Date=a"])
        }
    }

    @Test func onlyImagesOfAllowedHostsAreLoaded() async throws {
        let service = try service()
        for url in ["http://example.com/image", "http://localhost/", "http://169.254.169.254/", "ftp://127.0.0.1/"] {
            let response = await service.answer(request("/thumbnail", url))
            #expect([400, 403].contains(response.status), "\(url): \(response.status)")
            #expect(!String(decoding: response.body, as: UTF8.self).contains("127"))
        }
    }

    @Test func privateAddressesAreRefusedByDefault() async throws {
        let configuration = try ImageService.configuration(hosts: ["127.0.0.1"], cacheFolder: nil)
        let service = ImageService(configuration, token: nil)
        #expect(await service.answer(request("/thumbnail", "http://127.0.0.1/")).status == 403)
    }

    @Test(arguments: [(404, 404), (500, 502), (200, 415)])
    func failuresHaveAStatusAndAText(ofOrigin: Int, expected: Int) async throws {
        let service = try service()
        try await withLoopbackOrigin { origin in
            origin.route("/image", .init(status: ofOrigin, body: Array("<html>secret</html>".utf8)))
            for path in ["/thumbnail", "/original", "/info", "/placeholder"] {
                let response = await service.answer(request(path, origin.url("/image")))
                #expect(response.status == expected)
                #expect(response.fields[.cacheControl] == "no-store")
                #expect(!String(decoding: response.body, as: UTF8.self).contains("secret"))
            }
        }
        #expect(await service.answer(ServerRequest(target: "/thumbnail")).status == 400)
        #expect(await service.answer(ServerRequest(target: "/")).status == 404)
    }

    @Test func busyServiceAsksClientsToTryAgainLater() async throws {
        let picture = try picture()
        let service = try service { configuration in
            configuration.downloads.maximumConcurrentDownloads = 1
            configuration.downloads.maximumWaitingDownloads = 1
            configuration.responseCache = nil
        }
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            for path in ["/1", "/2", "/3"] { origin.route(path, picture.held(at: .start, until: gate)) }
            let (first, second) = (origin.url("/1"), origin.url("/2"))
            async let running = service.answer(request("/thumbnail", first))
            await origin.requests(to: "/1", reach: 1)
            let waiting = service.loader.dataTask(for: ImageRequest(second))
            while service.loader.load.waiting == 0 { await Task.yield() }
            let refused = await service.answer(request("/thumbnail", origin.url("/3")))
            #expect(refused.status == 503)
            #expect(refused.fields[.retryAfter].flatMap { Int($0) } ?? 0 > 0)
            gate.open()
            #expect(await running.status == 200)
            _ = try await waiting.value
        }
    }

    @Test func placeholderAndPropertiesAreJSON() async throws {
        let (service, picture) = (try service(), try picture())
        try await withLoopbackOrigin { origin in
            origin.route("/image", picture)
            let info = await service.answer(request("/info", origin.url("/image")))
            let text = String(decoding: info.body, as: UTF8.self)
            #expect(text.contains(#""width":"64""#) && text.contains(#""height":"48""#))
            let placeholder = await service.answer(request("/placeholder", origin.url("/image")))
            #expect(String(decoding: placeholder.body, as: UTF8.self).contains("blurHash"))
            #expect(placeholder.fields[.cacheControl]?.contains("max-age=") == true)
            #expect(await service.answer(ServerRequest(target: "/health")).status == 200)
        }
    }

    @Test func imagesArePrefetchedAndRemovedWithTheToken() async throws {
        let (service, picture) = (try service(), try picture())
        try await withLoopbackOrigin { origin in
            origin.route("/image", picture)
            let url = origin.url("/image")
            for (method, path) in [("POST", "/prefetch"), ("DELETE", "/image")] {
                #expect(
                    await service.answer(request(path, url, fields: [.authorization: "x"], method: method)).status
                        == 403)
            }
            let authorization: HTTPFields = [.authorization: "Bearer secret"]
            let prefetch = await service.answer(
                request(
                    "/prefetch", url, "&url=\(origin.url("/missing"))", fields: authorization, method: "POST"))
            var lines = ""
            try await prefetch.stream? { lines += String(decoding: $0, as: UTF8.self) }
            #expect(lines.hasSuffix("2 of 2\n1 failed\n"))

            func requests() -> Int { origin.counts.requests["/image", default: 0] }
            #expect(await service.answer(request("/thumbnail", url)).status == 200)
            #expect(requests() == 1)
            #expect(await service.answer(request("/image", url, fields: authorization, method: "DELETE")).status == 204)
            #expect(await service.answer(request("/thumbnail", url)).status == 200)
            #expect(requests() == 2)
        }
    }
}
