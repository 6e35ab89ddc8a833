import AsyncWebImage
import LoopbackOrigin
import Synchronization
import TestSupport
import Testing

/// What nginx makes of connections, and how little loaders have to do with it.
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
    func connectionsOfFewRequestsFailNone(version: TestSite.Version) async throws {
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

    /// Whoever takes up a connection at the moment in which nginx closes it does not hear of it.
    @Test(arguments: TestSite.Version.allCases)
    func connectionsThatAreClosedWhileTheyAreTakenUpFailNone(version: TestSite.Version) async throws {
        let body = try Samples.file(.png, 16, 16)
        let site = try await TestSite(version, ["a.png": body], directives: "keepalive_timeout 2ms;")
        let retry = CountedRetries()
        let loader = site.loader(retry: retry)
        let connections = try await withThrowingTaskGroup(of: Set<String?>.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    var random = SplitMix(seed: UInt64(worker))
                    var connections: Set<String?> = []
                    for number in 0..<200 {
                        // The moment can only be met by trying.
                        let rest = Duration.microseconds(Int.random(in: 1_000...4_000, using: &random))
                        try await Task.sleep(for: rest, tolerance: .zero)
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
        #expect(connections.count > 10)
        // The transport sees to it, without an attempt being lost; but on a machine that is so busy that even a new
        // connection waits for 2 ms, with HTTP/2 nginx closes that, too.
        #expect(retry.count <= connections.count / 10)
    }
}

private final class CountedRetries: RetryPolicy {
    private let retries = Atomic(0)

    var count: Int { retries.load(ordering: .relaxed) }

    func delay(after error: ImageError, tries: Int) -> Duration? {
        retries.add(1, ordering: .relaxed)
        return tries < 5 ? .zero : nil
    }
}
