import AsyncWebImage
import HTTPTypes
import ImageCodecs
import ImageEncoders
import ImageTestSupport
import LoopbackOrigin
import Testing

@testable import ThumbnailService

/// The service over HTTP.
@Suite(.timeLimit(.minutes(4)))
struct HTTPServerTests {
    /// Runs `body` with the port of a server.
    private func withServer<Result>(
        _ answer: @escaping HTTPServer.Handler, _ body: (Int) async throws -> Result
    ) async throws -> Result {
        let server = try await HTTPServer(port: 0)
        let serving = Task { try await server.run(answer) }
        defer { serving.cancel() }
        return try await body(server.port)
    }

    private func service(_ hosts: [HostPattern] = ["127.0.0.1"]) throws -> ImageService {
        var configuration = try ImageService.configuration(hosts: hosts, cacheFolder: nil)
        configuration.transport.policy.addresses.insert(.allow("127.0.0.1/32"), at: 0)
        return ImageService(configuration, token: nil)
    }

    @Test func originalIsPassedOnWhileItArrives() async throws {
        let service = try service()
        let file = try TestImages.photo(width: 64, height: 48).encoded(as: .png)
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            origin.route("/image", LoopbackOrigin.Response(body: file).held(at: .body(2_000), until: gate))
            try await withServer {
                await service.answer($0)
            } _: { port in
                let url = "http://127.0.0.1:\(port)/original?url=\(origin.url("/image"))"
                let body = try await ImageLoader().bytes(for: ImageRequest(url))
                #expect(body.head.contentLength == file.count)
                #expect(body.head.response.headerFields[.contentType] == "image/png")
                var received: [UInt8] = []
                for try await piece in body {
                    received += piece
                    gate.open()
                }
                #expect(received == file)
            }
        }
    }

    @Test func errorsOfTheServiceReachTheClient() async throws {
        let service = try service([])
        try await withServer {
            await service.answer($0)
        } _: { port in
            let loader = ImageLoader()
            for _ in 0..<2 {
                await #expect {
                    try await loader.data(for: ImageRequest("http://127.0.0.1:\(port)/info?url=http://example.com/"))
                } throws: {
                    ($0 as? ImageError)?.httpStatus == 403
                }
            }
        }
    }

    @Test func leavingClientEndsItsDownload() async throws {
        let service = try service()
        let file = try TestImages.photo(width: 64, height: 48).encoded(as: .png)
        try await withLoopbackOrigin { origin in
            origin.route("/image", LoopbackOrigin.Response(body: file).stalled(at: .body(100)))
            try await withServer {
                await service.answer($0)
            } _: { port in
                let url = "http://127.0.0.1:\(port)/thumbnail?url=\(origin.url("/image"))"
                let task = ImageLoader().dataTask(for: ImageRequest(url))
                await origin.requests(to: "/image", reach: 1)
                task.cancel()
                await origin.openConnections(become: 0)
            }
        }
    }

    @Test func bodyThatCannotBeCompletedClosesTheConnection() async throws {
        try await withServer { _ in
            ServerResponse(fields: [.contentLength: "100"]) { write in
                try await write([1, 2, 3])
                throw CancellationError()
            }
        } _: { port in
            var request = ImageRequest("http://127.0.0.1:\(port)/")
            request.transfer = TransferOptions(retry: ExponentialBackoff(maximumAttempts: 1))
            await #expect(throws: ImageError.self) { try await ImageLoader().data(for: request) }
        }
    }
}
