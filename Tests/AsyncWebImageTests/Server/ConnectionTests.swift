import AsyncWebImage
import LoopbackOrigin
import TestSupport
import Testing

/// The behavior of nginx with connections, and its effects on loaders.
@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)))
struct ConnectionTests {
    @Test func aHundredStreamsAtATimeShareAConnection() async throws {
        func body(_ index: Int) -> [UInt8] { (0..<20_000).map { UInt8(truncatingIfNeeded: $0 / 7 + index) } }
        try await withLoopbackOrigin { origin in
            // The origin behind nginx lets no answer end before all are under way.
            let gate = Gate()
            for index in 0..<100 {
                origin.route("/\(index)", .init(body: body(index)).held(at: .body(10_000), until: gate))
            }
            let site = try await TestSite(
                .http2,
                directives: "location / { proxy_pass http://127.0.0.1:\(origin.port); proxy_buffering off; }")
            let loader = site.loader(slots: 100)
            let connections = try await withThrowingTaskGroup(of: String?.self) { group in
                for index in 0..<100 {
                    group.addTask {
                        let data = try await loader.data(for: ImageRequest(site.url("\(index)")))
                        #expect(data.bytes == body(index))
                        #expect(data.metrics.protocolName == "HTTP/2")
                        return data.connection
                    }
                }
                await origin.counts { $0.runningRequests == 100 }
                gate.open()
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(connections.count == 1 && !connections.contains(nil))
        }
    }

    /// After ten requests nginx closes a connection; with HTTP/2, while more of them are under way.
    @Test(arguments: TestSite.Version.allCases)
    func connectionsLimitedToTenRequestsFailNoRequest(version: TestSite.Version) async throws {
        let body = try Samples.file(.jpeg)
        let site = try await TestSite(version, ["a.jpg": body], directives: "keepalive_requests 10;")
        let loader = site.loader(slots: 20)
        let connections = try await withThrowingTaskGroup(of: Set<String?>.self) { group in
            for worker in 0..<20 {
                group.addTask {
                    var connections: Set<String?> = []
                    for number in 0..<50 {
                        let url = site.url("a.jpg?\(worker)-\(number)")
                        let data = try await loader.data(for: ImageRequest(url))
                        #expect(data.bytes == body)
                        connections.insert(data.connection)
                    }
                    return connections
                }
            }
            return try await group.reduce(into: Set()) { $0.formUnion($1) }
        }
        #expect(connections.count >= 100 && !connections.contains(nil))
    }

    /// nginx closes every connection after its second response; the next request is sent at that moment.
    @Test func connectionsClosedDuringReuseFailNoRequest() async throws {
        let body = try Samples.file(.png, 16, 16)
        let site = try await TestSite(.http2, ["a.png": body], directives: "keepalive_requests 2;")
        let loader = site.loader()
        let connections = try await withThrowingTaskGroup(of: Set<String?>.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    var connections: Set<String?> = []
                    for number in 0..<200 {
                        let url = site.url("a.png?\(worker)-\(number)")
                        let data = try await loader.data(for: ImageRequest(url))
                        #expect(data.bytes == body)
                        connections.insert(data.connection)
                    }
                    return connections
                }
            }
            return try await group.reduce(into: Set()) { $0.formUnion($1) }
        }
        #expect(connections.count >= 400)
    }
}
