import HTTPTypes
import Testing

@testable import HTTPTransport

struct HTTP1RequestWriterTests {
    private func text(
        _ url: String, with writer: inout HTTP1RequestWriter, _ change: (inout TransportRequest) -> Void = { _ in }
    ) throws -> String {
        var request = TransportRequest(url: try HTTPURL(url))
        change(&request)
        var bytes: [UInt8] = []
        writer.write(request, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func text(_ url: String, _ change: (inout TransportRequest) -> Void = { _ in }) throws -> String {
        var writer = HTTP1RequestWriter()
        return try text(url, with: &writer, change)
    }

    @Test(arguments: [
        ("http://example.org/", "/", "example.org"), ("http://example.org/a/b?c=d", "/a/b?c=d", "example.org"),
        ("http://example.org:8080/a", "/a", "example.org:8080"), ("http://example.org:80/a", "/a", "example.org"),
        ("http://example.org", "/", "example.org"), ("http://example.org?a", "/?a", "example.org"),
        ("http://user:secret@example.org/a#b", "/a", "example.org"), ("http://[::1]:81/a", "/a", "[::1]:81"),
        ("http://example.org/ä b", "/%C3%A4%20b", "example.org"), ("http://example.org/a/../b", "/b", "example.org"),
    ])
    func requestNamesTargetAndHost(url: String, target: String, host: String) throws {
        #expect(try text(url) == "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nAccept: */*\r\n\r\n")
    }

    @Test func headerFieldsFollowTheHost() throws {
        let text = try text("http://a.example/") { request in
            request.method = .head
            request.headerFields = [
                .userAgent: "me", .accept: "image/*", .referer: "x\r\nEvil: 1", .contentLength: "5",
            ]
        }
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.first == "HEAD / HTTP/1.1")
        #expect(Set(lines.dropFirst(2).dropLast(2)) == ["User-Agent: me", "Accept: image/*", "Referer: x  Evil: 1"])
        #expect(lines.suffix(2) == ["", ""])
    }

    @Test func bytesThatAreNotUTF8AreSentAsTheyAre() throws {
        var request = TransportRequest(url: try HTTPURL("http://a.example/"))
        request.headerFields[fields: .ifNoneMatch] = [HTTPField(name: .ifNoneMatch, value: [0x22, 0xE9, 0x22])]
        var bytes: [UInt8] = []
        var writer = HTTP1RequestWriter()
        writer.write(request, to: &bytes)
        let line = "If-None-Match: \"".utf8 + [0xE9] + "\"\r\n\r\n".utf8
        #expect(bytes.suffix(line.count) == line[...])
    }

    @Test func fieldsOfAnEarlierRequestAreNotRepeated() throws {
        var writer = HTTP1RequestWriter()
        let first = try text("http://a.example/", with: &writer) { $0.headerFields[.userAgent] = "me" }
        let second = try text("http://a.example/", with: &writer)
        #expect(first.contains("User-Agent: me\r\n"))
        #expect(second == "GET / HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\n\r\n")
    }
}
