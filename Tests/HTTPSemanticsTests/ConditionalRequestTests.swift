import Testing

@testable import HTTPSemantics

struct ConditionalRequestTests {
    @Test(arguments: [
        #""a""#, #"W/"a""#, #""b", "a""#, #"W/"b" ,, W/"a""#, "*", " * ", #" "a" "#, "\t\"b\",\t\"a\"", #""b,c","a""#,
        #"b, "a""#, #"x "y", "a""#,
    ])
    func listWithTheTagMatches(field: String) {
        #expect(IfNoneMatchField(field).matches(#""a""#))
        #expect(IfNoneMatchField(field).matches(#"W/"a""#))
    }

    @Test(arguments: [
        "", ",", "a", #""A""#, #""b""#, #""b, "a"", "**", "*, *", #"w/"a""#, #""a"#, #"a""#, #""*""#, #"W/ "a""#,
        #"x"a""#, #""aa""#, "\"\"", "\"",
    ])
    func otherListDoesNotMatch(field: String) {
        #expect(!IfNoneMatchField(field).matches(#""a""#))
    }

    @Test func tagCanContainCommasAndNothing() {
        #expect(IfNoneMatchField(#""a, b""#).matches(#""a, b""#))
        #expect(!IfNoneMatchField(#""a, b""#).matches(#"" b""#))
        #expect(IfNoneMatchField("\"x\", \"\"").matches("\"\""))
    }
}
