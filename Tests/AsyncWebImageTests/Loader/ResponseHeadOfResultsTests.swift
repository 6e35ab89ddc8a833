import AsyncWebImage
import LoopbackOrigin
import Testing

/// Every kind of result carries the head of the response that it was decoded from.
@Suite(.timeLimit(.minutes(1)))
struct ResponseHeadOfResultsTests {
    private func withImage(
        _ format: ImageFormat = .png, _ body: (ImageLoader, ImageRequest, LoopbackOrigin) async throws -> Void
    ) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", .init(headerFields: ["ETag": "\"v1\""], body: try Samples.file(format)))
            try await body(ImageLoader(configuration: .patient), ImageRequest(origin.url("/image")), origin)
        }
    }

    @Test func imageCarriesHeadAndMetricsAlsoFromTheMemoryCache() async throws {
        try await withImage { loader, request, _ in
            for source in [ResponseSource.network, .imageCache] {
                let response = try await loader.image(for: request)
                #expect(response.source == source)
                #expect(response.head.status == .ok)
                #expect(response.head.response.headerFields[.eTag] == "\"v1\"")
                #expect(response.metrics.map { $0.bodyBytes == response.byteCount } != false)
            }
        }
    }

    @Test func animationAndInfoCarryTheHead() async throws {
        try await withImage(.gif) { loader, request, _ in
            for head in [try await loader.animation(for: request).head, try await loader.info(for: request).head] {
                #expect(head.response.headerFields[.eTag] == "\"v1\"")
            }
        }
    }

    @Test func versionOfALoadedImageMakesAConditionalRequest() async throws {
        try await withImage { loader, request, origin in
            var request = request
            request.knownVersion = ResponseVersion(try await loader.image(for: request).head)
            origin.route("/image", .init(status: 304))
            let error = await #expect(throws: ImageError.self) { try await loader.image(for: request) }
            guard case .notModified? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
