import HTTPTypes

@testable import AsyncWebImage
@testable import HTTPSemantics
@testable import HTTPTransport

/// Parses each line as the value of every header field that the library interprets.
func readFields(_ bytes: [UInt8]) {
    let lines = bytes.lines.map { text($0) }
    for line in lines { readField(line) }
    var fields = HTTPFields()
    for (name, line) in zip(fieldNames, lines) { fields.append(HTTPField(name: name, value: line)) }
    let response = HTTPResponse(status: .ok, headerFields: fields)
    for (requestedAt, receivedAt) in [(0, 0), (1_800_000_000, 1_800_000_005), (5, 1 << 47)] {
        check(StoredFreshness(response, requestedAt: requestedAt, receivedAt: receivedAt), now: receivedAt)
    }
    for field in Storability.fields(of: response) {
        precondition(field.name.canonicalName != "connection")
    }
    _ = Storability.fields(fields, updatedBy: response)
    let rule = VaryRule(fields)
    precondition(rule.names == rule.names.sorted() && rule.selection(of: fields) == rule.selection(of: fields))
    _ = CacheControl(fields, isRequest: true)
}

private let fieldNames: [HTTPField.Name] = [
    .cacheControl, .vary, .date, .age, .expires, .lastModified, .connection, .cacheControl, .vary, .expires, .eTag,
]

private func readField(_ line: String) {
    if let range = ContentRange(line) {
        precondition(range.first >= 0 && range.first <= range.last && range.last < range.total ?? .max)
    }
    let control = CacheControl([.cacheControl: line])
    precondition(control.maxAge ?? 0 >= 0 && control.staleIfError ?? 0 >= 0)
    precondition(HTTPDate.seconds(line) ?? 0 >= 0)
    precondition(DeltaSeconds.seconds(line) ?? 0 >= 0)
    let head = ResponseHead(
        response: HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: line, .date: line]),
        url: plainURL)
    precondition(ImageError.status(head, text: "").retryAfter ?? .zero >= .zero)
}

func check(_ freshness: StoredFreshness, now: Int) {
    precondition(freshness.lifetime >= 0 && freshness.initialAge >= 0)
    for now in [0, now, now + 1_000_000] {
        precondition(freshness.age(at: now) >= freshness.initialAge)
        _ = freshness.isFresh(at: now, maxAge: 10)
        _ = freshness.mayStandIn(at: now)
    }
}

/// Reads the lines as values of `WWW-Authenticate`.
func readChallenges(_ bytes: [UInt8]) {
    let lines = bytes.lines.map { text($0) }
    let challenges = Challenges(lines)
    precondition(challenges.schemes.count <= bytes.count)
    precondition(challenges.schemes.allSatisfy { $0 == $0.lowercased() && !$0.isEmpty })
    let schemes = lines.flatMap { Challenges([$0]).schemes }
    precondition(schemes == challenges.schemes)
}
