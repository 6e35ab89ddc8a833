import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct CredentialTests {
    /// Responds by script and records the challenges.
    private final class Provider: CredentialProvider {
        private let asked = Locked<[CredentialChallenge]>([])
        private let answer: @Sendable (Int) async throws -> Credential?

        init(_ answer: @escaping @Sendable (_ ordinal: Int) async throws -> Credential?) {
            self.answer = answer
        }

        var challenges: [CredentialChallenge] { asked.withLock { $0 } }

        func credential(for challenge: CredentialChallenge) async throws -> Credential? {
            let ordinal = asked.withLock { asked in
                asked.append(challenge)
                return asked.count
            }
            return try await answer(ordinal)
        }
    }

    private func withProvider(
        _ provider: Provider, _ body: (LoopbackOrigin, CurlTransport) async throws -> Void
    ) async throws {
        try await withOrigin(CurlTransport.Configuration(proxy: .none, credentialProvider: provider), body)
    }

    private func authorizations(_ origin: LoopbackOrigin) -> [String?] {
        origin.recordedRequests.map { $0.headerFields["authorization"] }
    }

    @Test func basicAndBearerCredentialsAreSentWithoutAChallenge() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.guardByBasic("/a")
            origin.route("/b", LoopbackOrigin.Response(body: [2]))
            let basic = Credential.basic(user: "me", password: "secret")
            #expect(try await transport.fetch(origin.url("/a")) { $0.credential = basic }.body == [1])
            #expect(try await transport.fetch(origin.url("/b")) { $0.credential = .bearer("t") }.body == [2])
            #expect(try await transport.fetch(origin.url("/b")).body == [2])
            #expect(authorizations(origin) == ["Basic bWU6c2VjcmV0", "Bearer t", nil])
        }
    }

    @Test(arguments: Hash.allCases)
    func digestCredentialAnswersAChallenge(hash: Hash) async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.guardByDigest("/a?b=c", hash, body: pattern(100_000))
            origin.guardByBasic("/basic")
            for credential in [
                Credential.digest(user: "me", password: "secret"), .password(user: "me", password: "secret"),
            ] {
                for _ in 0..<2 {
                    let record = try await transport.fetch(origin.url("/a?b=c")) { $0.credential = credential }
                    #expect(record.heads.count == 1)
                    #expect(record.head?.status == .ok)
                    #expect(record.body == pattern(100_000))
                }
            }
            let first = origin.recordedRequests
            #expect(first.count == 8)
            #expect(first.enumerated().allSatisfy { ($1.headerFields["authorization"] == nil) == ($0 % 2 == 0) })
            // Basic is used only if the server offers nothing better.
            let record = try await transport.fetch(origin.url("/basic")) {
                $0.credential = .password(user: "me", password: "secret")
            }
            #expect(record.body == [1])
            // No handle keeps the credential.
            _ = try await transport.fetch(origin.url("/a?b=c"))
            #expect(origin.recordedRequests.last?.headerFields["authorization"] == nil)
        }
    }

    @Test(arguments: [
        Credential.basic(user: "me", password: "wrong"), .digest(user: "me", password: "wrong"),
        .password(user: "me", password: "wrong"), .bearer("wrong"),
    ])
    func rejectedCredentialIsNotSentAgain(credential: Credential) async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.guardByDigest("/a", .md5)
            let record = try await transport.fetch(origin.url("/a")) { $0.credential = credential }
            #expect(record.heads.isEmpty && record.body.isEmpty)
            #expect(record.error?.reason == .authenticationFailed)
            #expect(record.error?.isRetryable == false)
            #expect(record.error?.description == "no credential was accepted (digest for \"photos\")")
            #expect(origin.recordedRequests.count <= 2)
        }
    }

    /// libcurl repeats these values in its answer, all control characters but line ends included.
    @Test(arguments: ["realm", "nonce", "opaque"], ["\r", "\rX-Injected: yes\r", "\u{1B}[2J", "\u{7F}"])
    func aChallengeWithControlCharactersIsNotAnswered(parameter: String, injected: String) async throws {
        var parameters = ["realm": "photos", "nonce": "0123", "opaque": "4567"]
        parameters[parameter]? += injected
        let challenge = parameters.map { "\($0)=\"\($1)\"" }.joined(separator: ", ")
        let head = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nwww-Authenticate: Digest \(challenge)\r\n\r\n"
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", .raw(head))
            let record = try await transport.fetch(origin.url("/a")) {
                $0.credential = .password(user: "me", password: "secret")
            }
            #expect(record.error?.reason == .authenticationFailed)
            #expect(record.error?.detail == "the challenge has control characters")
            #expect(origin.recordedRequests.count == 1)
            // It is the response for clients without a credential.
            #expect(try await transport.fetch(origin.url("/a")).head?.status == .unauthorized)
        }
    }

    @Test func challengeWithTabsIsAnswered() async throws {
        try await withOrigin { (origin, transport) async throws in
            let challenge = "Digest\trealm=\"my\tphotos\",\tnonce=\"0123\""
            origin.route("/a") { request in
                request.headerFields["authorization"] == nil
                    ? .raw("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nWWW-Authenticate: \(challenge)\r\n\r\n")
                    : LoopbackOrigin.Response(body: [1])
            }
            let record = try await transport.fetch(origin.url("/a")) {
                $0.credential = .digest(user: "me", password: "secret")
            }
            #expect(record.body == [1])
        }
    }

    @Test func status401IsTheResponseWithoutCredentials() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.guardByBasic("/a")
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.head?.status == .unauthorized)
            #expect(record.body == Array("no".utf8))
        }
    }

    @Test func requestCredentialTakesPrecedenceOverTheURL() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.guardByBasic("/a")
            let right = "http://me:secret@127.0.0.1:\(origin.port)/a"
            let wrong = "http://me:wrong@127.0.0.1:\(origin.port)/a"
            #expect(try await transport.fetch(right).body == [1])
            #expect(try await transport.fetch(wrong).error?.reason == .authenticationFailed)
            let credential = Credential.basic(user: "me", password: "secret")
            #expect(try await transport.fetch(wrong) { $0.credential = credential }.body == [1])
            let record = try await transport.fetch(wrong) { $0.headerFields[.authorization] = "Basic bWU6c2VjcmV0" }
            #expect(record.body == [1])
        }
    }

    @Test(arguments: [Credential.bearer("t"), .basic(user: "a", password: "b"), .digest(user: "a", password: "b")])
    func credentialsAreNotForwardedToOtherOrigins(credential: Credential) async throws {
        try await withLoopbackOrigin { (other) async throws in
            other.guardByDigest("/end", .md5, user: "a", password: "b")
            try await withOrigin { (origin, transport) async throws in
                origin.route("/a", .redirect(to: other.url("/end")))
                let record = try await transport.fetch(origin.url("/a")) { $0.credential = credential }
                #expect(record.head?.status == .unauthorized)
                #expect(authorizations(other) == [nil])
            }
        }
    }

    @Test func concurrentChallengesAskProviderOnce() async throws {
        let provider = Provider { _ in .password(user: "me", password: "secret") }
        try await withProvider(provider) { (origin, transport) async throws in
            for number in 0..<20 { origin.guardByBasic("/\(number)") }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<20 {
                    group.addTask { try await transport.fetch(origin.url("/\(number)")).body == [1] }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(provider.challenges.count == 1)
            let challenge = try #require(provider.challenges.first)
            #expect(challenge.url.port == origin.port)
            #expect(challenge.realm == "files")
            #expect(challenge.schemes == ["basic"])
            #expect(challenge.refused == nil)
        }
    }

    @Test func providedCredentialIsSentPreemptivelyUntilRejected() async throws {
        let provider = Provider { .bearer("t\($0)") }
        try await withProvider(provider) { (origin, transport) async throws in
            let valid = Locked("Bearer t1")
            origin.route("/a") { request in
                request.headerFields["authorization"] == valid.withLock { $0 }
                    ? LoopbackOrigin.Response(body: [1])
                    : LoopbackOrigin.Response(status: 401, headerFields: ["WWW-Authenticate": "Bearer"])
            }
            for _ in 0..<2 { #expect(try await transport.fetch(origin.url("/a")).body == [1]) }
            #expect(authorizations(origin) == [nil, "Bearer t1", "Bearer t1"])
            valid.withLock { $0 = "Bearer t2" }
            #expect(try await transport.fetch(origin.url("/a")).body == [1])
            #expect(authorizations(origin).suffix(2) == ["Bearer t1", "Bearer t2"])
            #expect(provider.challenges.last?.refused == .bearer("t1"))
            valid.withLock { $0 = "Bearer x" }
            #expect(try await transport.fetch(origin.url("/a")).error?.reason == .authenticationFailed)
            #expect(provider.challenges.count == 3)
        }
    }

    @Test func status401IsTheResponseIfTheProviderReturnsNil() async throws {
        try await withProvider(Provider { _ in nil }) { (origin, transport) async throws in
            origin.guardByBasic("/a")
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.isComplete)
            #expect(record.head?.status == .unauthorized)
            #expect(record.heads.count == 1 && record.body.isEmpty)
        }
    }

    @Test func theBodyOfAChallengeIsNotWaitedFor() async throws {
        let challenge = LoopbackOrigin.Response(
            status: 401, headerFields: ["WWW-Authenticate": "Bearer realm=\"a\""], body: pattern(1_000)
        ).stalled(at: .body(3))
        try await withProvider(Provider { _ in .bearer("t") }) { (origin, transport) async throws in
            origin.route("/a", [challenge, LoopbackOrigin.Response(body: [1])])
            #expect(try await transport.fetch(origin.url("/a")) { $0.deadlines.total = .seconds(30) }.body == [1])
        }
    }

    /// Fields at the end of a body can come from elsewhere than its head (RFC 9110, section 6.5.1).
    @Test func trailerOfAChallengeIsNotTheHeadOfAnotherResponse() async throws {
        let challenge =
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"a\"\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n0\r\nHTTP/1.1 200: OK\r\nX-Any: a\r\n\r\n"
        let provider = Provider { _ in .bearer("t") }
        try await withProvider(provider) { (origin, transport) async throws in
            origin.route("/a", [.raw(challenge), LoopbackOrigin.Response(body: [1])])
            #expect(try await transport.fetch(origin.url("/a")).body == [1])
        }
        #expect(provider.challenges.count == 1)
    }

    @Test func providerErrorFailsTheRequest() async throws {
        struct Locked: Error, CustomStringConvertible { let description = "the key chain is locked" }
        try await withProvider(Provider { _ in throw Locked() }) { (origin, transport) async throws in
            origin.guardByBasic("/a")
            let error = try await transport.fetch(origin.url("/a")).error
            #expect(error?.reason == .authenticationFailed)
            #expect(error?.description == "no credential was accepted (the key chain is locked)")
        }
    }

    @Test func cancellationDoesNotWaitForCredentialProvider() async throws {
        let (asked, cancelled) = (Tally(), Tally())
        let provider = Provider { ordinal in
            if ordinal > 1 { return .basic(user: "me", password: "secret") }
            asked.add()
            // Waits until the task is canceled.
            await Tally().reaches(1)
            cancelled.add()
            return nil
        }
        try await withProvider(provider) { (origin, transport) async throws in
            origin.guardByBasic("/a")
            let recorder = Recorder()
            let transfer = try transport.start(origin.url("/a"), recorder)
            await asked.reaches(1)
            transfer.cancel()
            #expect(await recorder.end().error?.reason == .cancelled)
            #expect(try await transport.fetch(origin.url("/a")).body == [1])
            #expect(await cancelled.reaches(1, within: .seconds(20)))
        }
    }

    @Test func credentialProviderIsAskedForEachOriginOfARedirectChain() async throws {
        let provider = Provider { .basic(user: "me", password: "secret\($0)") }
        try await withProvider(provider) { (origin, transport) async throws in
            try await withLoopbackOrigin { (other) async throws in
                other.guardByBasic("/end", password: "secret2")
                let right = "Basic bWU6c2VjcmV0MQ=="
                origin.route("/a") { request in
                    request.headerFields["authorization"] == right
                        ? .redirect(to: other.url("/end")) : LoopbackOrigin.Response(status: 401)
                }
                #expect(try await transport.fetch(origin.url("/a")).body == [1])
                #expect(provider.challenges.map(\.url.port) == [origin.port, other.port])
            }
        }
    }

    @Test(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"))
    func nginxAcceptsBasicCredentials() async throws {
        let server = try await SecureServer()
        let transport = CurlTransport(
            configuration: .init(proxy: .none, tls: .init(certificateAuthorityFile: server.certificateAuthorityFile)))
        for port in [server.port, server.portOfHTTP1] {
            let url = "https://127.0.0.1:\(port)/private"
            #expect(try await transport.fetch(url).head?.status == .unauthorized)
            for credential in [
                Credential.basic(user: "me", password: "secret"), .password(user: "me", password: "secret"),
            ] {
                #expect(try await transport.fetch(url) { $0.credential = credential }.body == SecureServer.small)
            }
            let wrong = try await transport.fetch(url) { $0.credential = .password(user: "me", password: "wrong") }
            #expect(wrong.error?.reason == .authenticationFailed)
        }
    }

    @Test func transportLogsContainNoSecrets() {
        let secret = "s3cret"
        for credential in [
            Credential.basic(user: "me", password: secret), .digest(user: "me", password: secret),
            .password(user: "me", password: secret), .bearer(secret),
        ] {
            #expect(!"\(credential) \(String(reflecting: credential))".contains(secret))
        }
    }
}
