import WebimageConsole
import Testing

struct TerminalTests {
    @Test(arguments: [("abcdef", 3, "abc"), ("abc", 3, "abc"), ("山水画", 5, "山水"), ("éé", 1, "é"), ("a", 0, "")])
    func textIsTruncatedToColumns(text: String, columns: Int, expected: String) {
        #expect(text.fitting(columns) == expected)
    }

    @Test func tablesAreAligned() {
        var table = Table(heading: ["image", "bytes"])
        table.add(["a.jpg (JPEG)", "7"])
        table.add(["b", "1234567"])
        #expect(table.lines == ["image           bytes", "a.jpg (JPEG)        7", "b             1234567"])
    }
}
