import ArgumentParser
import AsyncWebImage
import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct NetworkOptionsTests {
    @Test func trustOptionsConfigureTLS() throws {
        let plain = try NetworkOptions.parse([]).transport
        let file = ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
        let authorities = file.flatMap { FileManager.default.isReadableFile(atPath: $0) ? $0 : nil }
        #expect(plain.tls == TLSOptions(certificateAuthorityFile: authorities))
        #expect(plain.policy == NetworkPolicy())
        let given = try NetworkOptions.parse(
            ["--cacert", "/dev/null", "--insecure-host", "a.example", "--insecure-host", "*.b.example"]
        ).transport.tls
        #expect(given.certificateAuthorityFile == "/dev/null")
        #expect(given.hostsWithoutVerification == ["a.example", "*.b.example"])
        #expect(throws: (any Error).self) { try NetworkOptions.parse(["--insecure-host", "a/b"]) }
    }

    @Test(arguments: [
        ("/nowhere/ca.pem", "No such file or directory"), ("/dev", "Is a directory"), ("", "No such file or directory"),
    ])
    func unreadableAuthorityFileIsRejectedAtTheStart(file: String, reason: String) {
        do {
            _ = try NetworkOptions.parse(["--cacert", file])
            Issue.record("accepted")
        } catch {
            #expect(NetworkOptions.message(for: error) == "--cacert: cannot read \(file): \(reason).")
            #expect(NetworkOptions.exitCode(for: error) == .validationFailure)
        }
    }

    @Test func proxyOptionReplacesProxiesOfTheEnvironment() throws {
        guard case .environment = try NetworkOptions.parse([]).transport.proxy else {
            Issue.record("the environment is ignored")
            return
        }
        #expect(try NetworkOptions.parse(["--proxy", ""]).transport.proxy == .none)
        guard case .environment(let variables) = try NetworkOptions.parse(["--proxy", "p:1"]).transport.proxy else {
            Issue.record("no exceptions apply")
            return
        }
        #expect(variables["all_proxy"] == "p:1" && variables["http_proxy"] == nil)
    }

    @Test(arguments: [
        "proxy", "proxy.example:3128", "http://proxy.example", "HTTPS://me:s%40cret@proxy.example:3128/", "[::1]:3128",
        "socks4://10.0.0.1", "socks4a://proxy:1080", "socks5://proxy:1080", "socks5h://me@proxy:1080",
    ])
    func validProxyOptionsAreAccepted(proxy: String) {
        #expect(throws: Never.self) { try NetworkOptions.parse(["--proxy", proxy]) }
    }

    @Test(arguments: [
        "ftp://me:secret@proxy:1", "http://", "http://me:secret@proxy:x", "me:secret@[zz]:1", "http://proxy:99999",
        "http://proxy:1/secret", "://secret", "proxy:1?secret", "socks5h:secret",
    ])
    func invalidProxyOptionsAreRejectedAtTheStart(proxy: String) {
        do {
            _ = try NetworkOptions.parse(["--proxy", proxy])
            Issue.record("accepted")
        } catch {
            #expect(
                NetworkOptions.message(for: error)
                    == "--proxy is not the URL of a proxy: write http://host:port or socks5h://host:port.")
            #expect(NetworkOptions.exitCode(for: error) == .validationFailure)
        }
    }

    @Test(arguments: [
        ["get", "-o", "/tmp", "http://photos.example/a.png"], ["info", "http://photos.example/a.png"],
        ["batch", "--input", "-", "--output", "-"],
    ])
    func commandSendsRequestsAndCredentialToTheProxy(command: [String]) async throws {
        let right = "Basic " + Data("me:s@cret".utf8).base64EncodedString()
        try await withLoopbackOrigin { (proxy) async throws in
            proxy.route("http://photos.example/a.png") { request in
                request.headerFields["proxy-authorization"] == right
                    ? LoopbackOrigin.Response(status: 410)
                    : LoopbackOrigin.Response(status: 407, headerFields: ["Proxy-Authenticate": "Basic realm=\"p\""])
            }
            func run(_ proxy: String, _ environment: [String: String]) async throws -> String {
                let result = try await Command.run(
                    command + ["--proxy", proxy, "--retries", "0"], input: "http://photos.example/a.png",
                    environment: environment)
                return result.output + result.errors
            }
            // The environment's proxy cannot be used.
            let other = ["http_proxy": "http://127.0.0.1:1", "no_proxy": "", "NO_PROXY": ""]
            #expect(try await run("http://me:s%40cret@127.0.0.1:\(proxy.port)", other).contains("410"))
            #expect(try await run("me:wrong@127.0.0.1:\(proxy.port)", other).contains("(by the proxy)"))
            // A credential in the environment instead of the arguments.
            let own = ["http_proxy": "http://me:s%40cret@127.0.0.1:\(proxy.port)", "no_proxy": "", "NO_PROXY": ""]
            let result = try await Command.run(
                command + ["--retries", "0"], input: "http://photos.example/a.png", environment: own)
            #expect((result.output + result.errors).contains("410"))
            #expect(proxy.counts.totalRequests == 3)
        }
    }

    @Test func hostsInNoProxyAreAccessedDirectly() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a.png", LoopbackOrigin.Response(status: 410))
            let command = ["info", "--retries", "0", origin.url("/a.png"), "--proxy"]
            for (proxy, exceptions, isDirect) in [
                ("127.0.0.1:1", "127.0.0.0/8", true), ("127.0.0.1:1", "", false), ("", "", true),
            ] {
                let result = try await Command.run(
                    command + [proxy],
                    environment: ["http_proxy": "127.0.0.1:1", "no_proxy": exceptions, "NO_PROXY": ""])
                #expect(result.errors.contains(isDirect ? "410" : "to the proxy"), "\(result.errors)")
            }
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func commandUsesAProxyTunnelForHTTPS() async throws {
        try await withConnectProxy(.refusal(status: 403), user: "me", password: "secret") { (proxy) async throws in
            let result = try await Command.run(
                ["info", "--proxy", "http://me:secret@127.0.0.1:\(proxy.port)", "https://photos.example/a.png"],
                environment: ["no_proxy": "", "NO_PROXY": ""])
            #expect(result.status == 1)
            #expect(result.errors.contains("the proxy refused to connect to the host (status 403)"))
            #expect(!result.errors.contains("secret"))
            #expect(proxy.requests.map(\.target) == ["photos.example:443"])
        }
    }

    /// A Boolean value that indicates whether tests can replace the system's certificate authorities by a mount, which
    /// requires user namespaces or privileges.
    private static let canMount: Bool = (try? Programs.run("unshare", ["-rm", "true"])) != nil

    @Test(.enabled(if: NginxServer.isAvailable && canMount, "nginx, openssl and user namespaces are needed"))
    func authoritiesAreThoseOfTheGivenFileTheVariableTheSystemsFileOrItsFolder() async throws {
        let server = try NginxServer()
        let authority = try CertificateAuthority(for: server)
        try authority.makeKey("server")
        try authority.sign("server", key: "server")
        try await server.start(
            """
            server {
                listen 127.0.0.1:\(server.ports[0]) ssl;
                ssl_certificate \(server.path("server.pem")); ssl_certificate_key \(server.path("server.key"));
            }
            """)
        let url = "https://127.0.0.1:\(server.ports[0])/missing"
        let other = server.path("other.pem")
        try Programs.run(
            "openssl",
            ["req", "-x509", "-subj", "/CN=other", "-days", "2", "-keyout", server.path("other.key"), "-out", other]
                + ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
        try await withTemporaryFolder { folder in
            let script = "exec unshare -rm sh -c 'mount --bind \(folder) /etc/ssl/certs && exec \"$@\"' sh \"$@\""
            func errors(_ options: [String] = [], variable: String = "") async throws -> String {
                try await Command.run(
                    ["info", "--retries", "0"] + options + [url], environment: ["SSL_CERT_FILE": variable], by: script
                ).errors
            }
            let refusal = "no trusted TLS connection could be made"
            // The system's folder contains the server's authority.
            try FileManager.default.copyItem(atPath: authority.file, toPath: folder + "/authority.pem")
            try Programs.run("openssl", ["rehash", folder])
            #expect(try await errors().contains("404"))
            #expect(try await errors(["--cacert", other]).contains(refusal))
            // The system's file, which replaces the folder, contains another one.
            try FileManager.default.copyItem(atPath: other, toPath: folder + "/ca-certificates.crt")
            #expect(try await errors().contains(refusal))
            #expect(try await errors(["--cacert", authority.file]).contains("404"))
            // The variable replaces the system's file, if the file that it names exists, and --cacert replaces both.
            #expect(try await errors(variable: authority.file).contains("404"))
            #expect(try await errors(variable: folder + "/missing").contains(refusal))
            #expect(try await errors(["--cacert", other], variable: authority.file).contains(refusal))
        }
    }

    @Test(arguments: [["get", "-o", "/tmp"], ["info"]])
    func publicOnlyRejectsThisMachine(command: [String]) async throws {
        try await withLoopbackOrigin { (origin) async throws in
            for host in ["127.0.0.1", "localhost", "0x7f.1", "[::ffff:127.0.0.1]"] {
                let url = "http://\(host):\(origin.port)/a.png"
                let result = try await Command.run(
                    command + ["--public-only", url], environment: ["http_proxy": "", "all_proxy": "", "ALL_PROXY": ""])
                #expect(result.status == 1)
                #expect(result.errors.contains("not allowed by the network policy (address "))
            }
            #expect(origin.counts.openedConnections == 0)
        }
    }

    @Test(arguments: [22, 25, 6_379])
    func publicOnlyRejectsPortsOfOtherProtocols(port: Int) async throws {
        let result = try await Command.run(
            ["info", "--public-only", "http://8.8.8.8:\(port)/a.png"],
            environment: ["http_proxy": "", "all_proxy": "", "ALL_PROXY": ""])
        #expect(result.status == 1)
        #expect(result.errors.contains("not allowed by the network policy (port \(port), rule: deny \(port))"))
    }

    @Test(arguments: [["get", "-o", "/tmp"], ["info"]])
    func publicOnlyRejectsRedirectsToThisMachine(command: [String]) async throws {
        try await withLoopbackOrigin { (proxy) async throws in
            // No public server can be reached from here, so a proxy stands in for one.
            proxy.route("http://8.8.8.8/a.png", .redirect(to: "http://127.0.0.1:\(proxy.port)/secret.png"))
            let result = try await Command.run(
                command + ["--public-only", "http://8.8.8.8/a.png"],
                environment: ["http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "", "NO_PROXY": ""])
            #expect(result.status == 1)
            #expect(
                result.errors.contains(
                    "not allowed by the network policy (address 127.0.0.1, rule: deny 127.0.0.0/8)"))
            #expect(proxy.recordedRequests.map(\.target) == ["http://8.8.8.8/a.png"])
        }
    }
}
