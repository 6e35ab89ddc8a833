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
