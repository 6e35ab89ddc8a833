import Testing

@testable import HTTPTransport

struct TLSOptionsTests {
    private let digest = "RkzHQyAY9tp3DRm9gt5sIe0YhLfMvDrvVBwtIEZ/M+g="

    @Test func publicKeyPinIsADigestInBase64() throws {
        let bare = digest
        let full = "sha256//\(digest)"
        #expect(PublicKeyPin(bare) == PublicKeyPin(full))
        #expect(PublicKeyPin(full)?.text == full)
    }

    @Test(arguments: [
        "", "sha256//", "/etc/passwd", "sha256//RkzHQyAY9tp3DRm9gt5sIe0YhLfMvDrvVBwtIEZ/M+g",
        "sha1//RkzHQyAY9tp3DRm9gt5sIe0YhLfMvDrvVBwtIEZ/M+g=", "RkzHQyAY9tp3DRm9gt5sIe0YhLfMvDrvVBwtIEZ/M;g=",
    ])
    func invalidPublicKeyPinsAreRejected(text: String) {
        #expect(PublicKeyPin(text) == nil)
    }

    @Test func mostSpecificHostPatternSelectsTLSSettings() {
        let certificates = ["a", "b", "c"].map { ClientCertificate(certificateFile: $0) }
        let options = TLSOptions(
            clientCertificates: [
                "*.example.com": certificates[0], "www.example.com": certificates[1],
                "*.www.example.com": certificates[2],
            ],
            hostsWithoutVerification: ["old.example.com"])
        #expect(options.settings(for: "img.example.com").clientCertificate == certificates[0])
        #expect(options.settings(for: "www.example.com").clientCertificate == certificates[1])
        #expect(options.settings(for: "a.www.example.com").clientCertificate == certificates[2])
        #expect(options.settings(for: "example.com").clientCertificate == nil)
        #expect(options.settings(for: "example.com").isVerified)
        #expect(!options.settings(for: "old.example.com").isVerified)
        #expect(TLSOptions().settings(for: "example.com") == TLSOptions.HostSettings())
    }
}
