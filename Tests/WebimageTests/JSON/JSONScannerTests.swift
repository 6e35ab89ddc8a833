import Testing

@testable import webimage

struct JSONScannerTests {
    private func members(_ text: String) -> [String]? {
        JSONScanner.members(of: Array(text.utf8))?.map { member in
            "\(member.name)=\(String(decoding: member.value, as: UTF8.self))"
        }
    }

    @Test func jsonValuesAreReturnedAsWritten() {
        #expect(members("{}") == [])
        #expect(members(" { } \r") == [])
        #expect(members(#"{"a":1,"b":"x\u00e9\n"}"#) == ["a=1", #"b="x\u00e9\n""#])
        #expect(
            members(#"{ "a" : [ 1 , {"b" : null} ] , "c":-1.50E+007}"#) == [#"a=[ 1 , {"b" : null} ]"#, "c=-1.50E+007"])
        #expect(members(#"{"n":123456789012345678901234567890}"#) == ["n=123456789012345678901234567890"])
        #expect(members(#"{"\u0061\/":true}"#) == ["a/=true"])
    }

    @Test(arguments: [
        "", " ", "[]", "1", "{", "}", "{a:1}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":1}x"#,
        #"{"a":01}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":1.}"#, #"{"a":1e}"#, #"{"a":NaN}"#, #"{"a":tru}"#,
        #"{"a":"\x"}"#, #"{"a":"\u12"}"#, "{\"a\":\"\t\"}", #"{"a":"}"#, #"{"a":[1,]}"#, #"{"a":[1}"#, #"{"a":{1:2}}"#,
        #"{'a':1}"#, #"{"a":1 "b":2}"#, #"{"\ud800":1}"#,
    ])
    func invalidJSONIsRejected(text: String) {
        #expect(members(text) == nil)
    }

    @Test func jsonNestingIsLimited() {
        func nested(_ depth: Int) -> String {
            #"{"a":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        }
        #expect(members(nested(100))?.count == 1)
        #expect(members(nested(200)) == nil)
        #expect(members(nested(500_000)) == nil)
    }

    @Test(arguments: [
        (#""a\"b\\c\/d""#, "a\"b\\c/d"), (#""\b\f\n\r\t""#, "\u{8}\u{C}\n\r\t"), (#""\u00e9\ud83d\ude00""#, "é😀"),
        (#""é😀""#, "é😀"), (#""""#, ""),
    ])
    func jsonStringsAreUnescaped(json: String, text: String) {
        #expect(JSONScanner.text(of: Array(json.utf8)[...]) == text)
    }

    @Test(arguments: ["1", "null", "[]", #""\ud800""#, #""\ude00x""#])
    func otherJSONValuesAreNotStrings(json: String) {
        #expect(JSONScanner.text(of: Array(json.utf8)[...]) == nil)
    }
}
