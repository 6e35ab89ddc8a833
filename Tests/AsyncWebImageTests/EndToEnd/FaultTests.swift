import HTTPTransport
import ImageEncoders
import LoopbackOrigin
import Testing

@testable import AsyncWebImage

/// Every fault of a server ends in one clear error for every caller, and leaves nothing behind.
@Suite(.timeLimit(.minutes(2)))
struct FaultTests {
    typealias Response = LoopbackOrigin.Response

    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let response: Response
        /// The expected result of a load that needs the body.
        let code: ImageError.Code
        /// A Boolean value that indicates whether only a deadline ends the load.
        var stalls: Bool { [.firstByteTimeout, .idleTimeout].contains(code) }
        /// A Boolean value that indicates whether the body is complete, so that only decoding it fails.
        var isOnlyForDecoders = false
        /// A Boolean value that indicates whether the header is complete, so that only operations that need more
        /// fail.
        var hasHeader = false

        init(
            _ name: String, _ response: Response, _ code: ImageError.Code, isOnlyForDecoders: Bool = false,
            hasHeader: Bool = false
        ) {
            testDescription = name
            self.response = response
            self.code = code
            self.isOnlyForDecoders = isOnlyForDecoders
            self.hasHeader = hasHeader
        }
    }

    enum Product: CaseIterable, Sendable {
        case image, data, frames, info
    }

    private static let file = (try? Samples.file(.png)) ?? []
    private static let html = Array("<!doctype html><title>Not here</title>".utf8)

    static let faults: [Fault] = [
        Fault("stall before the head", Response(body: file).stalled(at: .start), .firstByteTimeout),
        Fault("stall inside the head", Response(body: file).stalled(at: .insideHead), .idleTimeout),
        Fault("stall before the body", Response(body: file).stalled(at: .body(0)), .idleTimeout),
        Fault("stall in the body", Response(body: file).stalled(at: .body(200)), .idleTimeout, hasHeader: true),
        Fault("cut before the head", Response(body: file).cut(at: .start), .connectionLost),
        Fault("cut inside the head", Response(body: file).cut(at: .insideHead), .connectionLost),
        Fault("cut before the body", Response(body: file).cut(at: .body(0)), .truncated),
        Fault("cut in the body", Response(body: file).cut(at: .body(200)), .truncated, hasHeader: true),
        Fault(
            "chunked body cut", Response(body: file, framing: .chunked).cut(at: .body(200)), .truncated, hasHeader: true
        ),
        Fault("reset before the head", Response(body: file).reset(at: .start), .connectionLost),
        Fault("reset before the body", Response(body: file).reset(at: .body(0)), .truncated),
        Fault(
            "body shorter than claimed", Response(body: file, framing: .claimedContentLength(file.count + 1)),
            .truncated,
            hasHeader: true),
        Fault("garbage", .raw([UInt8](repeating: 0xA5, count: 10_000)), .invalidResponse),
        Fault(
            "huge head", .raw("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 600_000) + "\r\n\r\n"),
            .invalidResponse
        ),
        Fault("redirect to itself", .redirect(to: "/fault"), .redirects),
        Fault("redirect to a file", .redirect(to: "file:///etc/hostname"), .unsupportedRedirect),
        Fault("not found", Response(status: 404, body: html), .status(404)),
        Fault("server error", Response(status: 500, body: file), .status(500)),
        Fault("unrequested 304", Response(status: 304), .status(304)),
        Fault("no content", Response(status: 204), .emptyBody),
        Fault("empty body", Response(body: []), .emptyBody),
        Fault("HTML as an image", Response(body: html), .notAnImage, isOnlyForDecoders: true),
        Fault(
            "GIF that claims 65535 x 65535",
            Response(body: Array("GIF89a".utf8) + [255, 255, 255, 255, 0x80, 0, 0] + [UInt8](repeating: 0, count: 31)),
            .tooManyPixels,
            isOnlyForDecoders: true),
        Fault(
            "PNG that claims 100000 x 100000",
            Response(body: Array(file.prefix(16)) + [0, 1, 0x86, 0xA0, 0, 1, 0x86, 0xA0] + Array(file.dropFirst(24))),
            .tooManyPixels,
            isOnlyForDecoders: true),
    ]

    /// Returns a loader without deadlines, or with short ones for data that never arrives.
    private func loader(isPatient: Bool = true) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        if !isPatient {
            configuration.downloads.deadlines.firstByte = .milliseconds(200)
            configuration.downloads.deadlines.idle = .milliseconds(200)
        }
        configuration.decoding.threadCount = 1
        return ImageLoader(configuration: configuration)
    }

    private func run(_ product: Product, _ url: String, with loader: ImageLoader) async throws {
        let request = ImageRequest(url)
        switch product {
        case .image: _ = try await loader.image(for: request)
        case .data: _ = try await loader.data(for: request)
        case .info: _ = try await loader.info(for: request)
        case .frames:
            for try await frame in loader.previews(for: request) where frame.isFinal { return }
            Issue.record("frames ended without a final one and without an error")
        }
    }

    @Test(arguments: faults, Product.allCases)
    func serverFaultCausesTheExpectedError(_ fault: Fault, _ product: Product) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/fault", fault.response)
            let succeeds = (product == .data && fault.isOnlyForDecoders) || (product == .info && fault.hasHeader)
            // Operations that must succeed have no deadline, because the machine can be slow.
            var loader: ImageLoader? = loader(isPatient: succeeds || !fault.stalls)
            do {
                let loader = try #require(loader)
                if succeeds {
                    try await run(product, origin.url("/fault"), with: loader)
                } else {
                    let error = await #expect(throws: ImageError.self) {
                        try await run(product, origin.url("/fault"), with: loader)
                    }
                    #expect(error?.description.isEmpty == false)
                    #expect(error?.code == fault.code)
                }
                await loader.coordinator.becomesIdle()
                while await loader.decoder.memoryInUse != 0, !Task.isCancelled { await Task.yield() }
            }
            loader = nil
            await origin.openConnections(become: 0)
        }
    }

    @Test(arguments: Product.allCases)
    func refusedConnectionIsAnError(_ product: Product) async throws {
        // No server listens on port 1, and no test can bind it.
        let url = "http://127.0.0.1:1/fault"
        let loader = loader()
        let error = await #expect(throws: ImageError.self) { try await run(product, url, with: loader) }
        guard case .transport(let cause) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.reason == .connectionFailed)
        await loader.coordinator.becomesIdle()
    }

    /// The codec would also report truncation, but the error of the transport is more precise.
    @Test(arguments: EncodeOptions.formats)
    func truncatedBodyIsATransportError(_ format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(format)
            origin.route("/fault", Response(body: file).cut(at: .body(file.count - 10)))
            let loader = loader()
            let error = await #expect(throws: ImageError.self) {
                try await loader.image(for: ImageRequest(origin.url("/fault")))
            }
            guard case .transport(let cause) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(cause.reason == .truncated(expected: file.count, received: file.count - 10))
        }
    }

    /// Returns bodies that are not images, each for a different reason.
    private static func bodies() throws -> [(name: String, body: [UInt8])] {
        var noWidth = file
        for index in 16..<20 { noWidth[index] = 0 }
        var damaged = try Samples.file(.png, 300, 200)
        for index in 100..<200 { damaged[index] ^= 0x55 }
        return [
            ("notAnImage", html), ("zeroPixels", noWidth), ("corrupt", damaged),
            ("truncated", Array(file.dropLast(40))),
        ]
    }

    @Test func undecodableBodiesCauseDistinctCodecErrors() async throws {
        try await withLoopbackOrigin { origin in
            let loader = loader()
            for (name, body) in try Self.bodies() {
                origin.route("/\(name)", Response(body: body))
                let error = await #expect(throws: ImageError.self) {
                    try await loader.image(for: ImageRequest(origin.url("/\(name)")))
                }
                guard case .codec(let cause, _, _)? = error else {
                    Issue.record("\(name): \(String(describing: error))")
                    continue
                }
                let found =
                    switch cause {
                    case .notAnImage: "notAnImage"
                    case .zeroPixels: "zeroPixels"
                    case .corrupt: "corrupt"
                    case .truncated: "truncated"
                    default: "\(cause)"
                    }
                #expect(found == name)
            }
        }
    }

    /// A file that was cut before it was served.
    @Test(arguments: EncodeOptions.formats)
    func truncatedFileIsACodecError(_ format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(format)
            origin.route("/fault", Response(body: Array(file.dropLast(file.count / 3))))
            let loader = loader()
            let error = await #expect(throws: ImageError.self) {
                try await loader.image(for: ImageRequest(origin.url("/fault")))
            }
            guard case .codec = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            await loader.coordinator.becomesIdle()
            #expect(await loader.decoder.memoryInUse == 0)
        }
    }
}
