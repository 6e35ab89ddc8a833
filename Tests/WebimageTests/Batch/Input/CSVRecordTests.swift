import Testing

@testable import webimage

struct CSVRecordTests {
    private func values(_ line: String) -> [String]? {
        CSVRecord.values(of: Array(line.utf8), separator: UInt8(ascii: ","))?
            .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("a,b", ["a", "b"]), ("", [""]), (",", ["", ""]), ("a,", ["a", ""]), (#""a,b",c"#, ["a,b", "c"]),
        (#""a""b""#, ["a\"b"]), (#""""#, [""]), ("\"\"\",\"\"\"", ["\",\""]),
        ("\"a\nb\",c", ["a\nb", "c"]), (" a , b ", [" a ", " b "]), ("é,😀", ["é", "😀"]),
    ])
    func quotedValuesMayContainAnything(line: String, expected: [String]) {
        #expect(values(line) == expected)
    }

    @Test(arguments: [
        (#"a"b"#, [#"a"b"#]), (#" "a""#, [#" "a""#]), (#""a"b"#, ["ab"]), (#""a" "b",c"#, [#"a "b""#, "c"]),
        (#"a"",b"#, [#"a"""#, "b"]),
    ])
    func marksAreCharactersOutsideOfQuotedFields(line: String, expected: [String]) {
        #expect(values(line) == expected)
    }

    @Test(arguments: [#""a"#, #"a,"b"#, #""a"",b"#, #"""#])
    func fieldsThatDoNotEndAreRejected(line: String) {
        #expect(values(line) == nil)
    }
}
