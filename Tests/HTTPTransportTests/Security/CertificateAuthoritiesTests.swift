import Testing

@testable import HTTPTransport

struct CertificateAuthoritiesTests {
    private let system = CertificateAuthorities(file: "/etc/bundle.pem", folder: "/etc/certs")

    @Test func folderOfTheSystemIsOnlyUsedWithoutAFile() {
        #expect(CertificateAuthorities(TLSOptions(), system: system) == .init(file: "/etc/bundle.pem"))
        let folder = CertificateAuthorities(folder: "/etc/certs")
        #expect(CertificateAuthorities(TLSOptions(), system: folder) == folder)
        #expect(CertificateAuthorities(TLSOptions(), system: .init()) == .init())
    }

    @Test func fileOfTheApplicationReplacesTheAuthoritiesOfTheSystem() {
        let options = TLSOptions(certificateAuthorityFile: "own.pem")
        #expect(CertificateAuthorities(options, system: system) == .init(file: "own.pem"))
        #expect(CertificateAuthorities(options, system: .init(folder: "/etc/certs")) == .init(file: "own.pem"))
    }

    @Test func folderOfTheApplicationIsUsedInAddition() {
        let options = TLSOptions(certificateAuthorityFolder: "own")
        #expect(CertificateAuthorities(options, system: system) == .init(file: "/etc/bundle.pem", folder: "own"))
    }

    @Test func fileOfTheSystemIsReadable() throws {
        guard let file = CertificateAuthorities.system.file else { return }
        #expect(file.hasPrefix("/"))
        #expect(CertificateAuthorities(TLSOptions(), system: .system).folder == nil)
    }
}
