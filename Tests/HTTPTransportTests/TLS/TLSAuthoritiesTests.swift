import COpenSSL
import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

/// The files of certificate authorities.
struct TLSAuthoritiesTests {
    private let fixture: TLSFixture

    init() throws { fixture = try TLSFixture() }

    @Test(arguments: ["missing", "empty", "damaged"])
    func unusableFileIsNamed(kind: String) throws {
        let file = "\(fixture.folder.path)/\(kind).pem"
        if kind == "empty" { try fixture.folder.write("", to: "empty.pem") }
        if kind == "damaged" {
            try fixture.folder.write(fixture.authority.pem.replacingOccurrences(of: "M", with: "-"), to: "damaged.pem")
        }
        let contexts = TLSContexts(TLSOptions(), authorities: CertificateAuthorities(file: file))
        let failure = try #require(throws: TLSFailure.self) { try fixture.connect(contexts) }
        #expect(failure.kind == .rejected)
        #expect(failure.detail.contains(file), "\(failure)")
        if kind == "missing" { #expect(failure.detail.hasSuffix("No such file or directory")) }
        // Once it is there, it is used.
        try fixture.folder.write(fixture.authority.pem, to: "\(kind).pem")
        #expect(try fixture.connect(contexts).failure == nil)
    }

    @Test(arguments: [nil, "folder"])
    func fileIsReadOnceADay(folder: String?) throws {
        let opened = try #require(OpenCount(of: fixture.authorityFile))
        let contexts = TLSContexts(
            TLSOptions(hostsWithoutVerification: ["b.example"]),
            authorities: CertificateAuthorities(
                file: fixture.authorityFile, folder: folder.map { "\(fixture.folder.path)/\($0)" }))
        let now = MonotonicInstant.now
        for host in ["b.example", "a.example", "127.0.0.1", "b.example", "a.example"] {
            #expect(try fixture.connect(contexts, to: host, now: now).failure == nil)
        }
        #expect(opened.next() == 1)
        try fixture.folder.write(TestCertificate("other", isAuthority: true).pem, to: "ca.pem")
        let settings = ServerSettings(fixture.leaf)
        let later = now + .seconds(24 * 60 * 60 - 1)
        let (client, _, failure) = try fixture.connect(contexts, settings, now: later)
        #expect(failure == nil && client.isSilent)
        // Sessions do not outlive the trust that they are based on.
        let next = try fixture.connect(contexts, settings, now: later + .seconds(2))
        #expect(next.failure?.kind == .rejected)
    }

    @Test func folderIsUsedInAddition() throws {
        let other = TestCertificate("other authority", isAuthority: true)
        let folder = try TestFolder()
        let hash = String(X509_NAME_hash_ex(X509_get_subject_name(other.certificate), nil, nil, nil), radix: 16)
        let name = String(repeating: "0", count: 8 - hash.count) + hash
        let contexts = TLSContexts(
            TLSOptions(), authorities: CertificateAuthorities(file: fixture.authorityFile, folder: folder.path))
        let settings = ServerSettings(TestCertificate("x", names: "DNS:a.example", issuer: other))
        #expect(try fixture.connect(contexts, settings).failure?.kind == .rejected)
        #expect(try fixture.connect(contexts).failure == nil)
        let file = try folder.write(other.pem, to: "\(name).0")
        let opened = try #require(OpenCount(of: file))
        for _ in 0..<3 { #expect(try fixture.connect(contexts, settings).failure == nil) }
        #expect(opened.next() == 1)
    }

    @Test func missingFileDescriptorsAreReported() async {
        await #expect(processExitsWith: .success) {
            let fixture = try TLSFixture()
            let contexts = fixture.contexts()
            let server = ServerEnd(ServerSettings(fixture.leaf))
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            do throws(TLSFailure) {
                _ = try contexts.connection(to: "a.example", port: 443, over: server.socket, now: .now)
                _exit(3)
            } catch {
                if error.kind != .tooManyOpenFiles { _exit(4) }
            }
            // The leak check at the end reads files.
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
    }
}
