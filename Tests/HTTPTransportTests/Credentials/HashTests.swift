import Testing

@testable import HTTPTransport

struct HashTests {
    @Test func knownMD5AndSHA256HashesAreCorrect() {
        #expect(Hash.md5("abc") == "900150983cd24fb0d6963f7d28e17f72")
        #expect(Hash.sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        let long = String(repeating: "a", count: 119)
        #expect(Hash.md5(long).count == 32 && Hash.sha256(long).count == 64)
    }
}
