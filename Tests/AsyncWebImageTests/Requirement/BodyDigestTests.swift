import AsyncWebImage
import Testing

/// The text of digests.
struct BodyDigestTests {
    @Test func hexadecimalDigestIsCaseInsensitive() throws {
        let digest = try #require(BodyDigest(.md5, hexadecimal: "900150983CD24fb0d6963f7d28e17f72"))
        #expect(digest.hexadecimal == "900150983cd24fb0d6963f7d28e17f72")
        #expect(digest.bytes.count == 16 && digest.bytes[4] == 0x3C)
        #expect(digest == BodyDigest(.md5, bytes: digest.bytes))
        #expect("\(digest)" == "MD5 900150983cd24fb0d6963f7d28e17f72")
    }

    @Test(arguments: [
        "", "9", "900150983cd24fb0d6963f7d28e17f7", "900150983cd24fb0d6963f7d28e17f7g",
        "900150983cd24fb0d6963f7d28e17f7200", "900150983cd24fb0d6963f7d28e17f720", "x00150983cd24fb0d6963f7d28e17f72",
    ])
    func invalidDigestTextIsRejected(text: String) {
        #expect(BodyDigest(.md5, hexadecimal: text) == nil)
    }

    @Test func digestLengthDependsOnTheAlgorithm() {
        for (algorithm, count) in [(BodyDigest.Algorithm.md5, 16), (.sha256, 32), (.sha512, 64)] {
            #expect(BodyDigest(algorithm, bytes: [UInt8](repeating: 1, count: count)) != nil)
            #expect(BodyDigest(algorithm, bytes: [UInt8](repeating: 1, count: count + 1)) == nil)
        }
    }
}
