import Hashing
import Testing

/// Examples of RFC 1321 and FIPS 180-4.
struct MessageDigestTests {
    @Test(
        arguments: [
            (DigestAlgorithm.md5, "900150983cd24fb0d6963f7d28e17f72"),
            (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                .sha512,
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
        ])
    func digestOfPiecesEqualsDigestOfTheWhole(algorithm: DigestAlgorithm, expected: String) throws {
        var digest = try MessageDigest(algorithm)
        digest.update(Array("a".utf8))
        digest.update([])
        digest.update(Array("bc".utf8))
        #expect(try digest.finish().hexadecimal == expected)
    }

    @Test func messageDigestCanStartOver() throws {
        var digest = try MessageDigest(.sha256)
        let empty = try digest.finish()
        digest.update([1, 2, 3])
        try digest.reset()
        #expect(try digest.finish() == empty)
        digest.update([1, 2, 3])
        #expect(try digest.finish() != empty)
        #expect(try digest.finish() == empty)
    }
}
