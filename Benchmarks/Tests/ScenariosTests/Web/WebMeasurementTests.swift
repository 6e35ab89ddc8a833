import Engines
import LoopbackOrigin
import Testing

@testable import Scenarios

/// Tests with nginx and TLS, which check nothing if nginx or openssl is not installed.
@Suite(.timeLimit(.minutes(1)), .enabled(if: Tool.installed("nginx") != nil && Tool.installed("openssl") != nil))
struct WebMeasurementTests {
    private static let bodyBytes = 3_000

    /// Runs `body` while an origin with three hosts serves a body.
    private func withTLSOrigin(
        logs: Bool = true, _ body: (TLSOrigin, FixtureFolder) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { path in
            let fixtures = try FixtureFolder(path: path)
            _ = try fixtures.body(bytes: Self.bodyBytes)
            try await TLSOrigin.serving(fixtures, hosts: 3, logs: logs) { try await body($0, fixtures) }
        }
    }

    private func load(of origin: TLSOrigin, _ web: WebProtocol, images: Int = 9) -> WebLoad {
        let name = FixtureFolder.bodyName(bytes: Self.bodyBytes)
        return WebLoad(
            urls: (0..<images).map { origin.url("\(name)?n=\($0)", host: $0 % 3, over: web) }, web: web,
            origin: origin, limits: EngineLimits(total: 2, perHost: 2), callers: 2, loopConcurrency: 2)
    }

    @Test func everyEngineUsesTheVersionOfThePort() async throws {
        try await withTLSOrigin { origin, _ in
            for web in [WebProtocol.http1, .http2] {
                for engine in [WebEngine.actor, .curlMulti, .asyncHTTPClient] {
                    let measurements = try await WebMeasurement.measure(
                        load(of: origin, web), on: engine, bodyBytes: Self.bodyBytes)
                    #expect((3...9).contains(measurements[.connections] ?? 0))
                    #expect(measurements[.resumed] != nil)
                    #expect((measurements[.cpuPerRequest] ?? 0) > 0)
                }
            }
        }
    }

    @Test(.enabled(if: Tool.installed("curl") != nil))
    func commandsTrustTheAuthorityOfTheRun() async throws {
        try await withTLSOrigin { origin, _ in
            let engines =
                [WebEngine.curlWithOneAuthority] + (origin.canReplaceSystemAuthorities ? [.curl] : [])
                + (Tool.installed("img2dataset") != nil ? [.img2dataset] : [])
            for engine in engines {
                let measurements = try await WebMeasurement.measure(
                    load(of: origin, .http1), on: engine, bodyBytes: Self.bodyBytes)
                #expect((measurements[.connections] ?? 0) >= 3)
            }
        }
    }

    /// AsyncHTTPClient does not either, but it tries again for ten seconds.
    @Test func noEngineAcceptsACertificateOfAnUnknownAuthority() async throws {
        try await withTLSOrigin { origin, fixtures in
            let other = try await CertificateFolder(path: fixtures.path, hosts: 0)
            let distrusting = TLSOrigin(
                hosts: origin.hosts, http1Port: origin.http1Port, http2Port: origin.http2Port,
                authorities: other.authorities, authority: other.authority, canReplaceSystemAuthorities: false, log: nil
            )
            for engine in [WebEngine.actor, .curlMulti] {
                await #expect(throws: (any Error).self) {
                    try await load(of: distrusting, .http1, images: 1).run(on: engine)
                }
            }
        }
    }

    @Test func aRequestThatFailsIsAMismatch() async throws {
        try await withTLSOrigin { origin, _ in
            let load = load(of: origin, .http1)
            await #expect(throws: Mismatch.self) {
                try await WebMeasurement.measure(load, on: .curlMulti, bodyBytes: Self.bodyBytes + 1)
            }
        }
    }

    @Test(arguments: [EngineName.actor, .asyncHTTPClient, .curlMulti, .curlMultiFreeing])
    func throughputIsMeasuredOverTLS(engine: EngineName) async throws {
        try await withTLSOrigin(logs: false) { origin, fixtures in
            let site = Throughput.Site(
                origin: OriginSite(origin: Origin(port: 9), fixtures: fixtures), tls: origin)
            for web in [WebProtocol.http1, .http2] {
                let subject = Throughput.Case(
                    engine: engine.rawValue, concurrency: 2, bodyBytes: Self.bodyBytes, requests: 10, web: web)
                let measurements = try await Throughput.measure(subject, at: site)
                #expect((measurements[.requestsPerSecond] ?? 0) > 0)
            }
        }
    }

    @Test func anOriginBehindAProxyHasItsPorts() {
        let origin = TLSOrigin(
            hosts: 2, http1Port: 1, http2Port: 2, authorities: "all.pem", authority: "ca.pem",
            canReplaceSystemAuthorities: false, log: nil)
        let proxied = origin.behind(http1Port: 3, http2Port: 4)
        #expect(proxied.url("a", host: 1, over: .http1) == "https://127.0.0.2:3/a")
        #expect(proxied.url("a", over: .http2) == "https://127.0.0.1:4/a")
    }
}
