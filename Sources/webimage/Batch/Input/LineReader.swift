import WebimageConsole

/// The lines of a list, which can be compressed with gzip.
///
/// One block and one line are held at a time, so a list can have any length. Not `Sendable`: used by one reader.
final class LineReader {
    private let blocks: InputBlocks
    private let name: String
    private var gunzip: Gunzip?
    private var block: ArraySlice<UInt8> = []
    private var isAtStart = true
    private var quotes: QuoteState?

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

    /// Makes lines end only outside of quotes, as in CSV; call this method before the first line is read.
    func splitRecords(separator: UInt8) { quotes = QuoteState(separator: separator) }

    /// Returns the first byte that is not blank, without consuming it; `nil` if there is none among the first ones.
    func firstByte() async throws(FileError) -> UInt8? {
        while block.isEmpty { guard try await refill() else { return nil } }
        let content = block.starts(with: [0xEF, 0xBB, 0xBF]) ? block.dropFirst(3) : block
        return content.first { !$0.isBlank }
    }

    /// Returns the next line; `nil` at the end of the list, or when the task is canceled.
    func next() async throws(FileError) -> RawLine? {
        var line = RawLine()
        let mark = isAtStart
        isAtStart = false
        quotes?.begin()
        while true {
            if let end = endOfLine() {
                line.append(block[..<end])
                block = block[(end + 1)...]
                line.trim(mark: mark)
                return line
            }
            line.append(block)
            block = []
            guard try await refill() else {
                guard line.count > 0, blocks.isAtEnd else { return nil }
                line.trim(mark: mark)
                return line
            }
        }
    }

    private func endOfLine() -> Int? {
        guard quotes != nil else { return block.firstIndex(of: UInt8(ascii: "\n")) }
        return block.firstIndex { quotes?.endsRecord(with: $0) == true }
    }

    /// Reads the next block; returns `false` at the end.
    private func refill() async throws(FileError) -> Bool {
        while true {
            if let gunzip {
                let bytes = try gunzip.next()
                if !bytes.isEmpty {
                    block = bytes[...]
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
                block = bytes[...]
                return true
            }
            gunzip.append(bytes)
        }
    }
}

/// The position within a record of CSV, byte by byte.
private struct QuoteState {
    private enum Place {
        case fieldStart
        case plain
        case quoted
        /// After a quotation mark within quotes: the end of the field, or the first of two.
        case closing
    }

    private let separator: UInt8
    private var place = Place.fieldStart

    init(separator: UInt8) { self.separator = separator }

    mutating func begin() { place = .fieldStart }

    /// Returns whether `byte` is the line break that ends the record.
    mutating func endsRecord(with byte: UInt8) -> Bool {
        switch (place, byte) {
        case (.quoted, UInt8(ascii: "\"")): place = .closing
        case (.quoted, _): break
        case (_, UInt8(ascii: "\n")): return true
        case (.fieldStart, UInt8(ascii: "\"")), (.closing, UInt8(ascii: "\"")): place = .quoted
        case (_, separator): place = .fieldStart
        default: place = .plain
        }
        return false
    }
}
