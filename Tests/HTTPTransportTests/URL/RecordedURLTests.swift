import Testing

@testable import HTTPTransport

/// URLs in logs and traces.
struct RecordedURLTests {
    @Test(arguments: [
        ("https://a.example/b", "https://a.example/b"),
        ("https://a.example/b?signature=secret&x=?", "https://a.example/b?…"),
        ("https://user:secret@a.example/?secret", "https://a.example/?…"),
        ("https://a.example?secret#c", "https://a.example/?…"), ("https://a.example/?", "https://a.example/"),
    ])
    func queryIsNotRecorded(text: String, recorded: String) throws {
        let url = try HTTPURL(text)
        #expect(url.recorded(withQuery: false) == recorded)
        #expect(url.recorded(withQuery: true) == url.string)
    }
}
