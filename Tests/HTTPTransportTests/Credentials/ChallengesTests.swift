import Testing

@testable import HTTPTransport

struct ChallengesTests {
    @Test(
        arguments: [
            (["Basic realm=\"files\""], ["basic"], "files"),
            (["Bearer"], ["bearer"], nil),
            (
                ["Digest realm=\"a, b\", nonce=\"x=\\\"y\\\"\", qop=\"auth\", Basic realm=other"], ["digest", "basic"],
                "a, b"
            ),
            (["Negotiate", "NTLM abc==, Basic realm = \"q\\\"q\""], ["negotiate", "ntlm", "basic"], "q\"q"),
            ([" , ,Basic charset=\"UTF-8\" , realm=plain,"], ["basic"], "plain"),
            ([], [], nil), ([""], [], nil), (["\"\"\""], [], nil), (["="], [], nil),
            (["Basic realm=\"open"], ["basic"], "open"),
        ] as [([String], [String], String?)])
    func challengesAreParsed(values: [String], schemes: [String], realm: String?) {
        let challenges = Challenges(values)
        #expect(challenges.realm == realm)
        // Text behind a token68 is parsed as further scheme names only.
        #expect(challenges.schemes.filter { $0 != "abc" } == schemes)
    }

    @Test func everyByteExceptSeparatorsIsPartOfAChallengeName() {
        let separators = [" ": [], "\t": [], "=": [], "\"": ["\\"], ",": ["\\"]]
        for byte in UInt8.min...UInt8.max {
            let character = String(decoding: [byte], as: UTF8.self)
            let challenges = Challenges([character + "\"\\" + character + "=," + character])
            #expect(challenges.schemes == separators[character] ?? Array(repeating: character.lowercased(), count: 2))
            #expect(challenges.realm == nil)
        }
    }
}

struct HashTests {
    @Test func knownMD5AndSHA256HashesAreCorrect() {
        #expect(Hash.md5("abc") == "900150983cd24fb0d6963f7d28e17f72")
        #expect(Hash.sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        let long = String(repeating: "a", count: 119)
        #expect(Hash.md5(long).count == 32 && Hash.sha256(long).count == 64)
    }
}
