import HTTPTypes

@testable import HTTPTransport

/// Passes the lines to the parser of heads as libcurl does, each with its line end.
func readHead(_ bytes: [UInt8]) {
    var parser = ResponseHeadParser()
    var start = 0
    while start < bytes.count {
        let end = bytes[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
        switch parser.append(bytes.span.extracting(start..<end)) {
        case .needsMore: break
        case .complete(let head): check(head, lines: bytes.lines.count)
        case .refused: return
        }
        start = end
    }
}

private func check(_ head: RawResponseHead, lines: Int) {
    let response = head.response
    precondition((200...999).contains(response.status.code) || response.status.code < 100)
    precondition(response.headerFields.count <= lines)
    precondition(head.contentLength ?? 0 >= 0)
    // A length that has been parsed is the value of a field.
    if let length = head.contentLength {
        let elements = response.headerFields[values: .contentLength].flatMap { $0.split(separator: ",") }
        precondition(elements.allSatisfy { Int($0.filter { $0 != " " && $0 != "\t" }) == length })
    }
}
