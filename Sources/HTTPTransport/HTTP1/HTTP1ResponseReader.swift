/// Splits the bytes of a response in HTTP/1.1 into header lines and parts of its body (RFC 9112).
///
/// A value without input or output: it is given the bytes of a connection as they arrive, and returns the parts in
/// them. It rejects what a server and a client could understand differently, so that both agree on the end of each
/// response.
struct HTTP1ResponseReader {
    /// A part of a response, by its position in the input.
    enum Part: Equatable {
        /// The input is used up, and the response is not complete.
        case needsMore
        /// Lines of a head or trailer, including their ends.
        case lines(Range<Int>)
        /// One such line, which began in earlier input: ``HTTP1ResponseReader/joinedLine``. It has no end if it is
        /// longer than a whole head may be.
        case joinedLine
        /// A part of the body.
        case body(Range<Int>)
        /// The response has ended.
        case complete
        /// The response is invalid, with the reason.
        case invalid(String)
    }

    /// The meaning of the end of the input, at which the server has closed the connection.
    enum Ending: Equatable {
        /// No byte of a response had arrived.
        case nothing
        case insideHead
        case insideBody
        case complete
    }

    private enum State: Equatable {
        case head
        /// The body, of which a number of bytes are missing.
        case body(Int)
        case chunkSize
        /// A chunk, of which a number of bytes are missing.
        case chunk(Int)
        /// The line end after a chunk.
        case chunkEnd
        case trailers
        case bodyUntilClose
        case complete
        case invalid(String)
    }

    /// The maximum length of the line before a chunk, which is a number and extensions that nothing uses.
    static let maximumChunkLine = 16 << 10
    /// The maximum number of digits of a chunk's size.
    private static let maximumSizeDigits = 15

    private let isHead: Bool
    private var state = State.head
    private var head: HTTP1ResponseHead?
    private var hasBegun = false
    private var isClosed = false
    /// The beginning of a line whose end has not arrived.
    private var partialLine: [UInt8] = []
    private var hasReturnedPartialLine = false

    /// Creates a reader for the response to a `HEAD` request, which has no body, or to any other request.
    init(isHead: Bool = false) {
        self.isHead = isHead
    }

    /// The line returned as ``Part/joinedLine``, until the next part.
    var joinedLine: [UInt8] { partialLine }

    /// A Boolean value that indicates whether the whole response has been returned, and the connection can be used
    /// again.
    var allowsReuse: Bool { state == .complete && !isClosed && head?.allowsReuse == true }

    /// A Boolean value that indicates whether the response has the version HTTP/1.1.
    var isVersion11: Bool { head?.isVersion11 == true }

    /// The number of bytes of the body that follow, without anything in between; `.max` up to the end of the connection,
    /// and `nil` outside a body and in one that arrives in chunks.
    var missingBodyCount: Int? {
        switch state {
        case .body(let missing): missing
        case .bodyUntilClose: .max
        case .head, .chunkSize, .chunk, .chunkEnd, .trailers, .complete, .invalid: nil
        }
    }

    /// Returns the next part of the response in `input`, and moves `position` behind it.
    ///
    /// `input` has the bytes after those of earlier calls. After ``Part/needsMore``, the next call needs other bytes;
    /// after ``Part/invalid``, the position has no meaning.
    mutating func next(in input: Span<UInt8>, at position: inout Int) -> Part {
        if hasReturnedPartialLine {
            partialLine.removeAll(keepingCapacity: true)
            hasReturnedPartialLine = false
        }
        while true {
            switch state {
            case .head, .trailers:
                return lines(in: input, at: &position)
            case .body(let missing):
                guard let range = Self.take(missing, of: input, &position) else { return .needsMore }
                state = range.count == missing ? .complete : .body(missing - range.count)
                return .body(range)
            case .bodyUntilClose:
                return Self.take(.max, of: input, &position).map { .body($0) } ?? .needsMore
            case .chunk(let missing):
                guard let range = Self.take(missing, of: input, &position) else { return .needsMore }
                state = range.count == missing ? .chunkEnd : .chunk(missing - range.count)
                return .body(range)
            case .chunkSize, .chunkEnd:
                if let result = chunkLine(in: input, at: &position) { return result }
            case .complete:
                return .complete
            case .invalid(let reason):
                return .invalid(reason)
            }
        }
    }

    /// Continues after the next `count` bytes of the body, which are not in the input; no more than
    /// ``missingBodyCount``.
    mutating func skipBody(_ count: Int) {
        guard case .body(let missing) = state else { return }
        state = count >= missing ? .complete : .body(missing - count)
    }

    /// Ends the input, because the server has closed the connection; returns what that means.
    mutating func endInput() -> Ending {
        isClosed = true
        switch state {
        case .head: return hasBegun ? .insideHead : .nothing
        case .body, .chunkSize, .chunk, .chunkEnd, .trailers, .invalid: return .insideBody
        case .bodyUntilClose, .complete:
            state = .complete
            return .complete
        }
    }
}

// MARK: - Lines

extension HTTP1ResponseReader {
    /// Rejects the response, also in later calls: the caller may have had to stop before it handled the part.
    private mutating func fail(_ reason: String) -> Part {
        state = .invalid(reason)
        return .invalid(reason)
    }

    /// A Boolean value that indicates whether the next byte belongs to a line of a head or trailer.
    private var isInsideLines: Bool {
        switch state {
        case .head, .trailers: true
        case .body, .chunkSize, .chunk, .chunkEnd, .bodyUntilClose, .complete, .invalid: false
        }
    }

    /// Returns the next lines of a head or trailer.
    private mutating func lines(in input: Span<UInt8>, at position: inout Int) -> Part {
        guard position < input.count else { return .needsMore }
        hasBegun = true
        let start = position
        guard partialLine.isEmpty else {
            return continueLine(in: input, at: &position, to: Self.endOfLine(in: input, from: start))
        }
        while isInsideLines, let end = Self.endOfLine(in: input, from: position) {
            if let reason = take(input.extracting(position..<end)) {
                // The lines before it come first.
                let part = fail(reason)
                return position == start ? part : .lines(start..<position)
            }
            position = end
        }
        return position == start ? continueLine(in: input, at: &position, to: nil) : .lines(start..<position)
    }

    /// Collects a line that is not completely in `input`, which has its end at `end`, if at all; returns it when it is
    /// complete, or too long.
    private mutating func continueLine(in input: Span<UInt8>, at position: inout Int, to end: Int?) -> Part {
        let start = position
        position = end ?? input.count
        partialLine.append(copying: input.extracting(start..<position))
        // Bytes that cannot become a status line need not be followed by a line end.
        if head == nil, !HTTP1ResponseHead.mayBegin(partialLine.span) { return fail(Self.noStatusLine) }
        // Longer lines are refused by the limit of the whole head.
        guard end != nil || partialLine.count > ResponseHeadParser.limit else { return .needsMore }
        hasReturnedPartialLine = true
        guard end != nil else { return .joinedLine }
        let line = partialLine
        return take(line.span).map { fail($0) } ?? .joinedLine
    }

    /// Takes a line of a head or trailer; returns the reason why it is invalid, if it is.
    private mutating func take(_ line: Span<UInt8>) -> String? {
        let end = line.lengthWithoutLineEnd
        if case .trailers = state {
            if end > 0 { return HTTP1ResponseHead.fault(ofFieldLine: line, end) }
            state = .complete
            return nil
        }
        if end > 0, head != nil { return head?.take(fieldLine: line, end) }
        guard let head else {
            head = HTTP1ResponseHead(statusLine: line, end)
            return head == nil ? Self.noStatusLine : nil
        }
        return endHead(head)
    }

    /// Determines the framing of the body after an empty line; returns the reason why it is invalid, if it is.
    private mutating func endHead(_ head: HTTP1ResponseHead) -> String? {
        if head.isInterim {
            self.head = nil
        } else if head.statusCode == 101 {
            return "it switches to a protocol that was not requested"
        } else if isHead || head.hasNoBody {
            state = .complete
        } else if head.framing.isChunked {
            state = .chunkSize
        } else if let length = head.framing.contentLength {
            state = length == 0 ? .complete : .body(length)
        } else {
            state = .bodyUntilClose
        }
        return nil
    }

    private static let noStatusLine = "it does not begin with a status line"

    /// Returns the position after the next line end.
    private static func endOfLine(in input: Span<UInt8>, from start: Int) -> Int? {
        input.firstIndex(of: UInt8(ascii: "\n"), in: start..<input.count).map { $0 + 1 }
    }

    /// Takes at most `count` bytes; returns `nil` if there are none.
    private static func take(_ count: Int, of input: Span<UInt8>, _ position: inout Int) -> Range<Int>? {
        guard position < input.count else { return nil }
        let start = position
        position += min(count, input.count - start)
        return start..<position
    }
}

// MARK: - Chunks

extension HTTP1ResponseReader {
    /// Takes the line end after a chunk, or the line before the next one (RFC 9112, section 7.1).
    ///
    /// Returns `nil` when the line is complete.
    private mutating func chunkLine(in input: Span<UInt8>, at position: inout Int) -> Part? {
        guard position < input.count else { return .needsMore }
        let start = position
        let end = Self.endOfLine(in: input, from: start)
        position = end ?? input.count
        let piece = input.extracting(start..<position)
        let limit = state == .chunkEnd ? 2 : Self.maximumChunkLine
        guard partialLine.count + piece.count <= limit else { return fail(Self.tooLongChunkLine) }
        let next: State?
        if end != nil, partialLine.isEmpty {
            next = Self.state(after: piece, in: state)
        } else {
            partialLine.append(copying: piece)
            guard end != nil else { return .needsMore }
            next = Self.state(after: partialLine.span, in: state)
            partialLine.removeAll(keepingCapacity: true)
        }
        guard let next else { return fail(Self.malformedChunk) }
        state = next
        return nil
    }

    /// Returns the state after a line; `nil` if it is invalid.
    private static func state(after line: Span<UInt8>, in state: State) -> State? {
        // Elsewhere, a line may end without a carriage return; here, the next byte could be taken for the body's.
        guard line.count >= 2, line[line.count - 2] == UInt8(ascii: "\r") else { return nil }
        if state == .chunkEnd { return line.count == 2 ? .chunkSize : nil }
        return chunkSize(line).map { $0 == 0 ? .trailers : .chunk($0) }
    }

    /// Parses the size, which extensions can follow; returns `nil` if it is invalid.
    private static func chunkSize(_ line: Span<UInt8>) -> Int? {
        var size = 0
        var index = 0
        while let digit = line[index].hexadecimalValue {
            guard index < maximumSizeDigits else { return nil }
            size = size << 4 | Int(digit)
            index += 1
        }
        guard index > 0 else { return nil }
        while line[index].isBlank { index += 1 }
        // Others could take another carriage return for the end of the line.
        guard line.firstIndex(of: UInt8(ascii: "\r"), in: index..<line.count) == line.count - 2 else { return nil }
        let follows = line[index]
        return follows == UInt8(ascii: ";") || index == line.count - 2 && follows == UInt8(ascii: "\r") ? size : nil
    }

    private static let malformedChunk = "malformed chunk"
    private static let tooLongChunkLine = "too many bytes between two chunks"
}
