import HTTPTransport
import Testing

/// RFC 9110, section 5.6.7: one form to write, three to read.
struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func allThreeFormsAreRead(_ text: String) {
        #expect(HTTPDate.seconds(text) == 784_111_777)
    }

    @Test(arguments: ["", "soon", "120", "1994", "Sun, 99 Nov 1994 08:49:37 GMT", String(repeating: ":", count: 1_000)])
    func whatIsNoDateIsNone(_ text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }
}
