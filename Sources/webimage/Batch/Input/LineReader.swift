import WebimageConsole

/// The lines of a list, which can be compressed with gzip.
///
/// One block and one line are held at a time, so a list can have any length. Not `Sendable`: used by one reader.
final class LineReader {
    /// The number of bytes from which a list without a line break is recognized as something else.
    private static let headSize = 64 << 10
    private static let lineFeed = UInt8(ascii: "\n")

    private let blocks: InputBlocks
    private let name: String
    private var gunzip: Gunzip?
    private var block: ArraySlice<UInt8> = []
    private var isAtStart = true
    /// The separator of the fields of CSV, whose records can contain line breaks; `nil` for other lists.
    private var separator: UInt8?
    /// The search for the end of a record in the block; `nil` if there is none.
    private var search: EndSearch?

    /// Opens the list at `path`, or standard input for `-`.
    init(path: String) throws(FileError) {
        name = path == "-" ? "standard input" : path
        blocks = try InputBlocks(path: path)
    }

    /// The number of bytes of the file from which the returned lines were read; for a compressed file, up to a block
    /// more.
    var bytesRead: Int { blocks.bytesRead - (gunzip == nil ? block.count : 0) }
    /// Ends reading as if the task were canceled.
    var stop: ReadingStop { blocks.stop }
    /// The size of the file; `nil` if unknown.
    var totalBytes: Int? { blocks.totalBytes }

    /// Makes lines end only outside of quoted fields; call this method before the first line is read.
    ///
    /// A line with a quoted field that does not end, or not within the maximum length of a line, ends at its first line
    /// break nevertheless, so that a stray quotation mark concerns no other line.
    func joinQuotedLines(separator: UInt8) { self.separator = separator }

    /// Returns the beginning of the list without consuming it, and whether it is the whole list.
    ///
    /// It contains at least the first line that is not blank, unless that is long.
    /// Call this method before the first line is read. It waits for no more than ``next()`` does.
    func head() async throws(FileError) -> (bytes: ArraySlice<UInt8>, isWhole: Bool) {
        var isWhole = false
        while block.count < Self.headSize, !hasLine {
            guard try await refill() else {
                isWhole = blocks.isAtEnd
                break
            }
        }
        if let totalBytes, totalBytes == blocks.bytesRead, gunzip == nil { isWhole = true }
        return (block.starts(with: ByteOrderMark.utf8) ? block.dropFirst(ByteOrderMark.utf8.count) : block, isWhole)
    }

    private var hasLine: Bool {
        guard let first = block.firstIndex(where: { !$0.isBlank }) else { return false }
        return block[first...].contains(Self.lineFeed)
    }

    /// Returns the next line; `nil` at the end of the list, or when the task is canceled.
    func next() async throws(FileError) -> RawLine? {
        guard var line = try await lineOfFile() else { return nil }
        if let separator, !line.isCut, CSVPosition.isQuoted(after: line.bytes, separator: separator) {
            switch try await endOfRecord(after: line.count, separator) {
            case .found(let end):
                line.append([Self.lineFeed])
                line.append(take(end))
                skipLineFeed()
            case .none: break
            case .unknown: return nil
            }
        }
        line.removeReturn()
        return line
    }

    /// Returns the bytes up to the next line break.
    private func lineOfFile() async throws(FileError) -> RawLine? {
        var line = RawLine()
        if isAtStart {
            while block.count < ByteOrderMark.utf8.count, !block.contains(Self.lineFeed), try await refill() {}
            if block.starts(with: ByteOrderMark.utf8) { _ = take(ByteOrderMark.utf8.count) }
            isAtStart = false
        }
        while true {
            if let end = block.firstIndex(of: Self.lineFeed) {
                line.append(take(end - block.startIndex))
                skipLineFeed()
                return line
            }
            line.append(take(block.count))
            guard try await refill() else { return line.count > 0 && blocks.isAtEnd ? line : nil }
        }
    }

    /// The end of a record whose first line ends within quotes.
    private enum RecordEnd {
        /// The number of bytes of the block before it.
        case found(Int)
        /// There is none within the maximum length of a line.
        case none
        /// Reading was stopped.
        case unknown
    }

    private func endOfRecord(after count: Int, _ separator: UInt8) async throws(FileError) -> RecordEnd {
        // For a later line of quoted ones, the end is the same: each byte is searched once, however many lines begin
        // with a stray mark.
        var search = self.search ?? EndSearch(separator: separator)
        defer { self.search = search }
        while true {
            let end = search.end(in: block, isWhole: false)
            guard count + 1 + (end ?? block.count) <= RawLine.longest else { return .none }
            if let end { return .found(end) }
            guard try await !refill() else { continue }
            guard blocks.isAtEnd else { return .unknown }
            return search.end(in: block, isWhole: true).map { .found($0) } ?? .none
        }
    }

    /// Takes the next bytes of the block.
    private func take(_ count: Int) -> ArraySlice<UInt8> {
        defer {
            block = block.dropFirst(count)
            search = search?.advanced(by: count)
        }
        return block.prefix(count)
    }

    private func skipLineFeed() {
        if block.first == Self.lineFeed { _ = take(1) }
    }

    /// Reads the next block; returns `false` at the end.
    private func refill() async throws(FileError) -> Bool {
        while true {
            if let gunzip {
                let bytes = try gunzip.next()
                if !bytes.isEmpty {
                    add(bytes)
                    return true
                }
            }
            guard let bytes = try await blocks.next() else {
                if blocks.isAtEnd, gunzip?.isInsideMember == true {
                    throw FileError(description: "\(name) ends before its gzip data is complete")
                }
                return false
            }
            if gunzip == nil, blocks.bytesRead == bytes.count, bytes.starts(with: Gunzip.signature) {
                gunzip = try Gunzip(name: name)
            }
            guard let gunzip else {
                add(bytes)
                return true
            }
            gunzip.append(bytes)
        }
    }

    private func add(_ bytes: [UInt8]) {
        if block.isEmpty { block = bytes[...] } else { block += bytes }
    }
}

/// The search for the line break that ends a record of CSV, from the beginning of a line within a quoted field.
///
/// The search from a later line finds the same: as long as the record has not ended, that line is within the field, too.
private struct EndSearch {
    private let separator: UInt8
    private var position: CSVPosition
    /// The number of bytes that have been searched.
    private var count = 0
    private var end: Int?

    init(separator: UInt8) {
        self.separator = separator
        position = CSVPosition(separator: separator, isQuoted: true)
    }

    /// Returns the number of bytes of `block` before the line break, or, if the list ends with it, before its end.
    mutating func end(in block: ArraySlice<UInt8>, isWhole: Bool) -> Int? {
        if let end { return end }
        for byte in block.dropFirst(count) {
            count += 1
            if position.endsRecord(with: byte) {
                end = count - 1
                return end
            }
        }
        return isWhole && !block.isEmpty && !position.isQuoted ? block.count : nil
    }

    /// Returns the search after bytes have been taken from the block, up to the beginning of a line; `nil` if they have
    /// not all been searched, or contain the end.
    func advanced(by taken: Int) -> EndSearch? {
        guard taken <= count, end.map({ taken <= $0 }) ?? true else { return nil }
        var search = self
        search.count -= taken
        search.end = end.map { $0 - taken }
        return search
    }
}

extension CSVPosition {
    /// Returns whether `line`, the first one of a record, ends within a quoted field.
    fileprivate static func isQuoted(after line: [UInt8], separator: UInt8) -> Bool {
        guard line.contains(UInt8(ascii: "\"")) else { return false }
        var position = CSVPosition(separator: separator)
        for byte in line { _ = position.endsRecord(with: byte) }
        return position.isQuoted
    }
}

/// The bytes that tell the encoding of a text at its beginning.
enum ByteOrderMark {
    static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]
    static let utf16: [[UInt8]] = [[0xFF, 0xFE], [0xFE, 0xFF]]
}
