import HTTPTransport
import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)))
struct SecureTests {
    private func transport(_ server: SecureServer) -> CurlTransport {
        CurlTransport(
            configuration: .init(proxy: .none, tls: .init(certificateAuthorityFile: server.certificateAuthorityFile)))
    }

    @Test func transfersShareAConnectionOfHTTP2() async throws {
        let server = try await SecureServer()
        let transport = transport(server)
        let url = "https://127.0.0.1:\(server.port)/small"
        let records = try await withThrowingTaskGroup(of: Recorder.Record.self) { group in
            for _ in 0..<100 { group.addTask { try await transport.fetch(url) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let connection = try #require(HTTPField.Name("X-Connection"))
        #expect(Set(records.map { $0.head?.response.headerFields[connection] }).count == 1)
        #expect(records.allSatisfy { $0.body == SecureServer.small })
        #expect(records.allSatisfy { $0.metrics?.protocolName == "HTTP/2" })
        let first = try #require(records.compactMap(\.metrics).first { !$0.reusedConnection })
        #expect(first.tlsDuration >= first.connectDuration && first.connectDuration > .zero)
        #expect(first.timeToFirstByte >= first.tlsDuration)
    }

    /// libcurl performs requests with cookies; over HTTP/2, it accepts bodies that end early.
    @Test(arguments: [(false, "HTTP/2.0"), (true, "HTTP/1.1")])
    func requestWithCookiesUsesHTTP1(handlesCookies: Bool, protocolName: String) async throws {
        let server = try await SecureServer()
        let record = try await transport(server).fetch("https://127.0.0.1:\(server.port)/small") {
            $0.handlesCookies = handlesCookies
        }
        let name = try #require(HTTPField.Name("X-Protocol"))
        #expect(record.head?.response.headerFields[name] == protocolName)
    }

    @Test func serverWithoutHTTP2IsReachedByHTTP1() async throws {
        let server = try await SecureServer()
        let transport = transport(server)
        for number in 0..<3 {
            let record = try await transport.fetch("https://127.0.0.1:\(server.portOfHTTP1)/big")
            #expect(record.body == SecureServer.big)
            #expect(record.metrics?.protocolName == "HTTP/1.1")
            #expect(record.metrics?.reusedConnection == (number > 0))
        }
    }

    @Test func aSecondConnectionResumesTheSession() async throws {
        let server = try await SecureServer()
        let transport = transport(server)
        let name = try #require(HTTPField.Name("X-Resumed"))
        var resumed: [String?] = []
        for _ in 0..<3 {
            let record = try await transport.fetch("https://127.0.0.1:\(server.portOfHTTP1)/small") {
                $0.headerFields[.connection] = "close"
            }
            #expect(record.metrics?.reusedConnection == false)
            resumed.append(record.head?.response.headerFields[name])
        }
        #expect(resumed == [".", "r", "r"])
    }

    @Test func anUnknownAuthorityIsNotTrusted() async throws {
        let server = try await SecureServer()
        let transport = CurlTransport(configuration: .init(proxy: .none))
        let error = try #require(try await transport.fetch("https://127.0.0.1:\(server.port)/small").error)
        #expect(error.reason == .tlsFailure)
        #expect(error.description.hasPrefix("no trusted TLS connection could be made (the certificate "))
        #expect(!error.isRetryable)
    }

    @Test func aCertificateForAnotherNameIsNotTrusted() async throws {
        let server = try await SecureServer()
        let transport = transport(server)
        let error = try #require(try await transport.fetch("https://localhost:\(server.port)/small").error)
        #expect(error.reason == .tlsFailure)
    }

    @Test func httpsRequestToPlainHTTPServerFails() async throws {
        let server = try NginxServer()
        try await server.start("server { listen 127.0.0.1:\(server.ports[0]); }")
        let transport = CurlTransport(configuration: .init(proxy: .none))
        let error = try #require(try await transport.fetch("https://127.0.0.1:\(server.ports[0])/").error)
        #expect(error.reason == .tlsFailure)
        #expect(!error.isRetryable)
    }

    @Test func missingCertificateAuthorityFileIsNamedInTheError() async throws {
        let server = try await SecureServer()
        let transport = CurlTransport(
            configuration: .init(proxy: .none, tls: .init(certificateAuthorityFile: "/nonexistent/ca.pem")))
        let error = try #require(try await transport.fetch("https://127.0.0.1:\(server.port)/small").error)
        #expect(error.reason == .tlsFailure)
        #expect(error.description.contains("/nonexistent/ca.pem"))
    }

    @Test func pausedHTTP2StreamDoesNotDelayOthers() async throws {
        let server = try await SecureServer()
        let transport = transport(server)
        let base = "https://127.0.0.1:\(server.port)"
        let paused = Recorder { received, _ in received > 100_000 ? .pause : .more }
        let transfer = try transport.start("\(base)/big", paused)
        await paused.wait { $0.pauses == 1 }
        for _ in 0..<2 { #expect(try await transport.fetch("\(base)/big").body == SecureServer.big) }
        #expect(paused.record.pauses == 1)
        paused.takeAll()
        transfer.resume()
        let record = await paused.end()
        #expect(record.isComplete)
        #expect(record.body == SecureServer.big)
    }

    @Test func canceledHTTP2StreamDoesNotAffectOthers() async throws {
        let server = try await SecureServer()
        let transport = transport(server)
        let base = "https://127.0.0.1:\(server.port)"
        try await withThrowingTaskGroup(of: Recorder.Record.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let recorder = Recorder()
                    let transfer = try transport.start("\(base)/big", recorder)
                    if number % 2 == 1 {
                        await recorder.wait { $0.body.count > 50_000 * number || !$0.outcomes.isEmpty }
                        transfer.cancel()
                    }
                    return await recorder.end()
                }
            }
            for try await record in group {
                #expect(record.outcomes.count == 1)
                #expect(record.isComplete || record.error?.reason == .cancelled, "\(String(describing: record.error))")
                if record.isComplete { #expect(record.body == SecureServer.big) }
            }
        }
        #expect(try await transport.fetch("\(base)/small").body == SecureServer.small)
    }

    @Test func canceledHTTP2StreamsThatArePausedReleaseTheirMemory() async {
        await #expect(processExitsWith: .success) {
            let server = try await SecureServer()
            let transport = CurlTransport(
                configuration: .init(
                    proxy: .none, tls: .init(certificateAuthorityFile: server.certificateAuthorityFile)))
            let url = "https://127.0.0.1:\(server.port)/big"
            func startPaused() async throws -> (any Transfer, Recorder) {
                let recorder = Recorder { received, _ in received > 0 ? .pause : .more }
                let transfer = try transport.start(url, recorder)
                await recorder.wait { $0.pauses > 0 || !$0.outcomes.isEmpty }
                return (transfer, recorder)
            }
            func cancelPaused(_ count: Int) async throws {
                for _ in 0..<count {
                    let (transfer, recorder) = try await startPaused()
                    transfer.cancel()
                    #expect(await recorder.end().error?.reason == .cancelled)
                }
            }
            // Uses the connection meanwhile.
            let (other, recorder) = try await startPaused()
            try await cancelPaused(20)
            let before = ProcessState.residentBytes
            try await cancelPaused(400)
            let growth = ProcessState.residentBytes - before
            // Address sanitizer keeps memory that has been freed, and finds the leak itself.
            if !Sanitizer.isActive { #expect(growth < 4 << 20) }
            other.cancel()
            _ = await recorder.end()
        }
    }

    @Test func credentialsAreNotSentToAnInsecureOrigin() async throws {
        let server = try await SecureServer()
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", .redirect(to: "https://127.0.0.1:\(server.port)/small"))
            let record = try await transport(server).fetch(origin.url("/a")) {
                $0.headerFields[.authorization] = "Bearer x"
            }
            #expect(record.body == SecureServer.small)
            #expect(record.head?.url.scheme == "https")
        }
    }
}
