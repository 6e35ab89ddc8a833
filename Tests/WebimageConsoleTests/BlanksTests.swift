import Testing

@testable import WebimageConsole

struct BlanksTests {
    @Test(arguments: [
        (" a b\t", "a b"), ("\r\na\u{A0}", "a"), ("\u{FEFF}\u{200B}é\u{3000}\u{2060}", "é"), ("a", "a"), ("", ""),
        (" \u{A0}\0", ""),
    ])
    func blanksAroundATextAreRemoved(text: String, expected: String) {
        #expect(text.withoutBlanksAround == expected)
        #expect("x\(text)x".withoutBlanksAround == "x\(text)x")
    }
}
