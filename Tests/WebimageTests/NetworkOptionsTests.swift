import ArgumentParser
import AsyncWebImage
import LoopbackOrigin
import Testing

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct NetworkOptionsTests {
    @Test func trustIsAsGiven() throws {
        let plain = try NetworkOptions.parse([]).transport
        #expect(plain.tls == TLSOptions())
        #expect(plain.policy == NetworkPolicy())
        let given = try NetworkOptions.parse(
            ["--cacert", "/dev/null", "--insecure-host", "a.example", "--insecure-host", "*.b.example"]
        ).transport.tls
        #expect(given.certificateAuthorityFile == "/dev/null")
        #expect(given.insecureHosts == ["a.example", "*.b.example"])
        #expect(throws: (any Error).self) { try NetworkOptions.parse(["--insecure-host", "a/b"]) }
    }

    @Test(arguments: [
        ("/nowhere/ca.pem", "No such file or directory"), ("/dev", "Is a directory"), ("", "No such file or directory"),
    ])
    func authoritiesThatCannotBeReadAreRefusedAtTheStart(file: String, reason: String) {
        do {
            _ = try NetworkOptions.parse(["--cacert", file])
            Issue.record("accepted")
        } catch {
            #expect(NetworkOptions.message(for: error) == "--cacert: cannot read \(file): \(reason).")
            #expect(NetworkOptions.exitCode(for: error) == .validationFailure)
        }
    }

    @Test(arguments: [["get", "-o", "/tmp"], ["info"]])
    func publicOnlyRefusesThisMachine(command: [String]) async throws {
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

    @Test(arguments: [["get", "-o", "/tmp"], ["info"]])
    func publicOnlyRefusesRedirectsToThisMachine(command: [String]) async throws {
        try await withLoopbackOrigin { (proxy) async throws in
            // Nothing public can be reached from here but by a proxy that plays it.
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
