import AsyncWebImage
import FoundationEssentials
import HTTPTransport
import HTTPTypes
import ImageCodecs
import ImageEncoders
import ImageProcessing
import ResponseCache

/// Serves thumbnails, originals, and properties of the images of other servers.
struct ImageService: Sendable {
    let loader: ImageLoader
    /// The text that requests to prefetch and to remove images must contain as a bearer token; `nil` to refuse them.
    let token: String?
    private let prefetcher: ImagePrefetcher

    init(_ configuration: ImageLoader.Configuration, token: String?) {
        loader = ImageLoader(configuration: configuration)
        self.token = token
        prefetcher = ImagePrefetcher(loader: loader, destination: .responseCache)
    }

    /// Returns the settings for URLs that clients choose, of the given hosts.
    static func configuration(hosts: [HostPattern], cacheFolder: String?) throws -> ImageLoader.Configuration {
        var configuration = ImageLoader.Configuration()
        configuration.transport.policy = .publicInternetOnly
        configuration.transport.policy.hosts = hosts.map { .allow($0) } + [.denyOthers]
        configuration.downloads.maximumWaitingDownloads = 500
        configuration.downloads.maximumQueueTime = .seconds(5)
        configuration.downloads.maximumBodyBytes = 32 << 20
        configuration.decoding.limits.maximumPixels = 100_000_000
        configuration.decoding.limits.maximumFrames = 500
        configuration.maximumMemoryCacheBytes = 0
        configuration.responseCache = try ResponseCache(.init(directory: cacheFolder))
        configuration.cacheKeyRule = withoutSignature
        configuration.metrics = MetricsConfiguration(dimensions: [("service", "thumbnails")])
        return configuration
    }

    /// Returns the key of a URL with a signature, which changes although the image is the same.
    ///
    /// Requests with equal keys share stored images, downloads, and failures, so all clients must be trusted with these.
    private static func withoutSignature(_ url: String) -> String? {
        guard url.contains("X-Amz-Signature="), var parts = URLComponents(string: url) else { return nil }
        parts.percentEncodedQueryItems = parts.percentEncodedQueryItems?.filter { !$0.name.hasPrefix("X-Amz-") }
        return parts.string.map { "signed \($0)" }
    }

    /// Returns the response to a client.
    func answer(_ request: ServerRequest) async -> ServerResponse {
        let isAuthorized = token.map { request.fields[.authorization] == "Bearer \($0)" } ?? false
        do {
            switch (request.method == "HEAD" ? "GET" : request.method, request.path) {
            case ("GET", "/thumbnail"): return try await thumbnail(request)
            case ("GET", "/original"): return try await original(request)
            case ("GET", "/info"): return try await info(request)
            case ("GET", "/placeholder"): return try await placeholder(request)
            case ("GET", "/health"): return try await health()
            case ("POST", "/prefetch") where isAuthorized: return prefetch(request.all("url"))
            case ("DELETE", "/image") where isAuthorized:
                await loader.remove(imageRequest(request))
                return ServerResponse(status: 204)
            case ("POST", "/prefetch"), ("DELETE", "/image"): return failure(403, "The token is wrong.")
            default: return failure(404, "There is no such resource.")
            }
        } catch let error as ImageError {
            var response = failure(error.suggestedStatus, error.clientDescription)
            guard case .overloaded(let time, _) = error else { return response }
            response.fields[.retryAfter] = "\(max(1, time.components.seconds))"
            return response
        } catch {
            return failure(503, "The request was canceled.")
        }
    }

    /// A thumbnail in the best format that the client accepts, made once for all clients, and stored.
    private func thumbnail(_ request: ServerRequest) async throws -> ServerResponse {
        var image = imageRequest(request)
        let (width, height) = (number("width", 1...4_096, in: request), number("height", 1...4_096, in: request))
        let box = PixelSize(width: width ?? height ?? 256, height: height ?? width ?? 256)
        image.options.target = request["fit"] == "cover" ? .fill(box) : .fit(box)
        image.transformations = [
            number("rotate", 0...359, in: request).map { .rotate(degrees: $0) },
            number("blur", 1...100, in: request).map { .blur(sigma: Double($0)) },
            request["gray"].map { _ in .grayscale },
            number("radius", 1...4_096, in: request).map { .rounded(radius: Double($0)) },
        ].compactMap(\.self)
        let quality = number("quality", 1...100, in: request) ?? 80
        let rule = OutputRule(
            accepting: request["format"].map { "image/\($0)" } ?? request.fields[.accept],
            from: [.webp(WebPOptions(quality: quality)), .jpeg(JPEGOptions(quality: quality)), .png(), .gif()])
        let file = try await loader.file(for: image, as: rule)
        var response = ServerResponse(fields: fields(file.format.mediaType, file.freshness), body: file.bytes)
        response.fields[.eTag] = file.entityTag
        response.fields[.vary] = "Accept"
        if file.matches(ifNoneMatch: request.fields[.ifNoneMatch]) { (response.status, response.body) = (304, []) }
        return response
    }

    /// The original while it arrives, if it begins like an image.
    private func original(_ request: ServerRequest) async throws -> ServerResponse {
        let body = try await loader.bytes(for: imageRequest(request), readsHeader: true)
        var response = ServerResponse(fields: fields(body.header?.format.mediaType ?? "", body.freshness))
        let length = body.head.response.headerFields[.contentEncoding] == nil ? body.head.contentLength : nil
        response.fields[.contentLength] = length.map(String.init)
        // If the download starts over, the client cannot be told: the error closes the connection.
        response.stream = { write in for try await piece in body { try await write(piece) } }
        return response
    }

    private func info(_ request: ServerRequest) async throws -> ServerResponse {
        let info = try await loader.info(for: imageRequest(request))
        let (type, size) = (info.header.format.mediaType, info.header.size)
        return try json(["type": type, "width": "\(size.width)", "height": "\(size.height)"], info.freshness)
    }

    /// Returns the placeholder to show until the image has arrived.
    private func placeholder(_ request: ServerRequest) async throws -> ServerResponse {
        var image = imageRequest(request)
        image.options.target = .maximumSide(100)
        let response = try await loader.image(for: image)
        let (thumb, blur) = await loader.decoder.perform { (response.pixels.thumbHash(), response.pixels.blurHash()) }
        return try json(["thumbHash": Data(thumb).base64EncodedString(), "blurHash": blur], response.freshness)
    }

    /// Stores originals, and reports the progress, a line for each.
    private func prefetch(_ urls: [String]) -> ServerResponse {
        let task = prefetcher.prefetch(urls.map { ImageRequest($0) })
        return ServerResponse(status: 202, fields: fields("text/plain")) { write in
            for await progress in task.progress {
                try await write(Array("\(progress.completed) of \(progress.total)\n".utf8))
            }
            try await write(Array("\(await task.result.failures.count) failed\n".utf8))
        }
    }

    private func health() async throws -> ServerResponse {
        let (load, activity) = (loader.load, await loader.coordinator.activity)
        return try json([
            "running": "\(load.running)", "waiting": "\(load.waiting)", "callers": "\(activity.callers)",
            "bytesInFlight": "\(load.bytesInFlight)", "decodeBytes": "\(load.decodeBytes)",
        ])
    }

    private func imageRequest(_ request: ServerRequest) -> ImageRequest {
        var image = ImageRequest(request["url"] ?? "", finishesOnShutdown: true)
        image.fallbackURLs = Array(request.all("fallback").prefix(3))
        image.deadline = .seconds(20)
        return image
    }

    /// Returns a parameter; numbers that are too small or too large count as the nearest allowed one.
    private func number(_ name: String, _ range: ClosedRange<Int>, in request: ServerRequest) -> Int? {
        request[name].flatMap { Int($0) }.map { min(max($0, range.lowerBound), range.upperBound) }
    }

    private func fields(_ type: String, _ freshness: Freshness? = nil) -> HTTPFields {
        let cacheControl = freshness?.cacheControl(maximum: .seconds(86_400)) ?? "no-store"
        return [.contentType: type, .xContentTypeOptions: "nosniff", .cacheControl: cacheControl]
    }

    private func json(_ members: [String: String], _ freshness: Freshness? = nil) throws -> ServerResponse {
        ServerResponse(fields: fields("application/json", freshness), body: Array(try JSONEncoder().encode(members)))
    }

    private func failure(_ status: Int, _ text: String) -> ServerResponse {
        ServerResponse(status: status, fields: fields("text/plain"), body: Array("\(text)\n".utf8))
    }
}
