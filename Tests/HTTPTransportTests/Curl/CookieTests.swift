import Foundation
import HTTPTransport
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CookieTests {
    private func route(_ origin: LoopbackOrigin) {
        origin.route("/set", .init(headerFields: ["Set-Cookie": "taste=sweet; Path=/"], body: [1]))
        origin.route("/drop", .init(headerFields: ["Set-Cookie": "taste=; Path=/; Max-Age=0"], body: [1]))
        origin.route("/get", .init(body: [1]))
        origin.route("/login", .init(status: 302, headerFields: ["Set-Cookie": "who=me; Path=/", "Location": "/get"]))
    }

    private func get(
        _ path: String, _ origin: LoopbackOrigin, _ transport: CurlTransport, handlesCookies: Bool = true
    ) async throws -> String? {
        #expect(try await transport.fetch(origin.url(path)) { $0.handlesCookies = handlesCookies }.isComplete)
        return origin.recordedRequests.last?.headerFields["Cookie"]
    }

    @Test func cookiesAreSentToTheirOrigin() async throws {
        try await withLoopbackOrigin { origin in
            route(origin)
            let transport = CurlTransport()
            _ = try await get("/set", origin, transport)
            #expect(try await get("/get", origin, transport) == "taste=sweet")
            _ = try await get("/drop", origin, transport)
            #expect(try await get("/get", origin, transport) == nil)
        }
    }

    @Test func cookiesAreIgnoredUnlessRequested() async throws {
        try await withLoopbackOrigin { origin in
            route(origin)
            let transport = CurlTransport()
            _ = try await get("/set", origin, transport, handlesCookies: false)
            #expect(try await get("/get", origin, transport) == nil)
            _ = try await get("/set", origin, transport)
            #expect(try await get("/get", origin, transport, handlesCookies: false) == nil)
            #expect(try await get("/get", origin, transport) == "taste=sweet")
        }
    }

    @Test func transportsDoNotShareCookies() async throws {
        try await withLoopbackOrigin { origin in
            route(origin)
            _ = try await get("/set", origin, CurlTransport())
            #expect(try await get("/get", origin, CurlTransport()) == nil)
        }
    }

    @Test func cookiesOfARedirectAreSentToItsTarget() async throws {
        try await withLoopbackOrigin { origin in
            route(origin)
            let sent = try await get("/login", origin, CurlTransport())
            #expect(sent == "who=me")
        }
    }

    @Test func cookieFileIsLoadedOnlyOnce() async throws {
        try await withLoopbackOrigin { origin in
            route(origin)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("cookies-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            try "127.0.0.1\tFALSE\t/\tFALSE\t0\ttaste\tsour\n".write(to: file, atomically: true, encoding: .utf8)
            let transport = CurlTransport(configuration: .init(cookieFile: file.path))
            #expect(try await get("/get", origin, transport) == "taste=sour")
            _ = try await get("/drop", origin, transport)
            #expect(try await get("/get", origin, transport) == nil)
        }
    }
}
