@testable import HTTPTransport

/// Reads the bytes after the first one as a response, at once and in pieces of the size that the first byte names, with
/// the same result.
func readResponse(_ bytes: [UInt8]) {
    guard let size = bytes.first else { return }
    let response = Array(bytes.dropFirst())
    let whole = Reading(response, inPiecesOf: max(1, response.count))
    precondition(whole == Reading(response, inPiecesOf: max(1, Int(size))))
    precondition(whole.body.count <= response.count)
}

/// The result of reading a response.
private struct Reading: Equatable {
    private(set) var lines: [[UInt8]] = []
    private(set) var body: [UInt8] = []
    /// The last part, unless it is a position.
    private(set) var end = HTTP1ResponseReader.Part.needsMore
    private var allowsReuse = false

    init(_ response: [UInt8], inPiecesOf size: Int) {
        var reader = HTTP1ResponseReader()
        var start = 0
        while start < response.count, end == .needsMore {
            let piece = response[start..<min(response.count, start + size)]
            read(Array(piece), with: &reader)
            start = piece.endIndex
        }
        allowsReuse = reader.allowsReuse
    }

    private mutating func append(lines rest: ArraySlice<UInt8>) {
        var rest = rest
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(Array(rest[...end]))
            rest = rest[(end + 1)...]
        }
        precondition(rest.isEmpty)
    }

    private mutating func read(_ piece: [UInt8], with reader: inout HTTP1ResponseReader) {
        var position = 0
        while true {
            let before = position
            let part = reader.next(in: piece.span, at: &position)
            precondition(before <= position && position <= piece.count)
            switch part {
            case .lines(let range): append(lines: piece[range])
            case .joinedLine: lines.append(reader.joinedLine)
            case .body(let range): body += piece[range]
            case .needsMore, .complete, .invalid:
                end = part
                return
            }
        }
    }
}
