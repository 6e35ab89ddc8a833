import HTTPTypes

@testable import HTTPTransport

/// Reads the text as a URL, and as the target of redirects.
func followLocation(_ bytes: [UInt8]) {
    let text = text(bytes)
    read(text)
    _ = HTTPURL.withoutUserInformation(text)
    for base in bases {
        var request = TransportRequest(url: base, headerFields: [.authorization: "Bearer a", .cookie: "a=b"])
        request.credential = .bearer("a")
        let head = HTTPResponse(status: .found, headerFields: [.location: text])
        guard let next = try? RedirectRule.next(after: head, of: request, redirectCount: 0) else { continue }
        check(next.url)
        guard !next.url.hasSameOrigin(as: base) else { continue }
        precondition(next.credential == nil)
        precondition(next.headerFields[.authorization] == nil && next.headerFields[.cookie] == nil)
    }
}

private let bases: [HTTPURL] = [
    "http://example.org/a/b?c", "https://user:password@example.org:444/", "http://[fe80::1]/%41/", "http://127.0.0.1/",
].compactMap { try? HTTPURL($0) }

/// Simple URLs must be parsed unambiguously.
private func read(_ text: String) {
    let parsed = try? HTTPURL(parsing: text)
    if let parsed { check(parsed) }
    guard let plain = PlainURL(text) else { return }
    guard let parsed else { preconditionFailure("libcurl does not read \(text)") }
    precondition(parsed.string == text && parsed.user == nil && parsed.password == nil)
    precondition((parsed.scheme, parsed.host, parsed.port) == (plain.scheme, plain.host, plain.port))
}

/// Checks that the normal form is parsed to itself, and has neither user nor password.
private func check(_ url: HTTPURL) {
    precondition(url.scheme == "http" || url.scheme == "https")
    precondition(!url.host.isEmpty && (1...65_535).contains(url.port))
    guard let again = try? HTTPURL(parsing: url.string) else { preconditionFailure("\(url.string) is no URL") }
    precondition(again.string == url.string && again.user == nil && again.password == nil, url.string)
    precondition((again.scheme, again.host, again.port) == (url.scheme, url.host, url.port), url.string)
    precondition(url.lastPathComponent.utf8.count < url.string.utf8.count)
}
