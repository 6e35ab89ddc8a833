import WebimageConsole

/// The lines of a file or of standard input, read on demand.
///
/// Blank lines, lines that begin with `#`, and a byte order mark are skipped. One block is held at a time, so a list
/// can have any length.
actor InputList {
    /// The maximum length of a line in bytes; a longer line is an error and is not held.
    static let longestLine = 65_536

    private let blocks: InputBlocks
    private var block: ArraySlice<UInt8> = []
    private var isAtStart = true

    /// Opens the list at `path`, or standard input for `-`.
    init(path: String) throws(FileError) {
        blocks = try InputBlocks(path: path)
    }

    /// Returns the next source, or `nil` at the end of the list or when the task is canceled.
    func next() async throws(FileError) -> ImageSource? {
        while let line = try await nextLine() {
            let content = line.bytes.trimmed
            guard let first = content.first ?? line.firstBeyond, first != UInt8(ascii: "#") else { continue }
            guard !line.isCut else {
                return ImageSource(
                    unusable: String(decoding: content.prefix(100), as: UTF8.self) + "...",
                    reason: "the line is longer than \(Self.longestLine) bytes")
            }
            // Another encoding would result in another URL.
            guard let text = String(validating: content, as: UTF8.self) else {
                return ImageSource(
                    unusable: String(decoding: content, as: UTF8.self), reason: "the line is not UTF-8")
            }
            return ImageSource(listed: text)
        }
        return nil
    }

    /// The held part of a line without its end.
    private struct Line {
        var bytes: [UInt8] = []
        var isCut = false
        /// The first byte beyond `limit` that is not white space.
        var firstBeyond: UInt8?
        /// The maximum number of bytes held.
        let limit: Int

        mutating func append(_ part: ArraySlice<UInt8>) {
            let held = part.prefix(limit - bytes.count)
            bytes += held
            guard held.count < part.count else { return }
            isCut = true
            firstBeyond = firstBeyond ?? part[held.endIndex...].first { !$0.isBlank }
        }
    }

    private func nextLine() async throws(FileError) -> Line? {
        // A byte order mark does not count toward the length of a line.
        let mark = isAtStart ? Array("\u{FEFF}".utf8) : []
        isAtStart = false
        guard var line = try await nextLine(limit: Self.longestLine + mark.count) else { return nil }
        if line.bytes.starts(with: mark) { line.bytes.removeFirst(mark.count) }
        line.isCut = line.isCut || line.bytes.count > Self.longestLine
        return line
    }

    private func nextLine(limit: Int) async throws(FileError) -> Line? {
        var line = Line(limit: limit)
        while true {
            if let end = block.firstIndex(of: UInt8(ascii: "\n")) {
                line.append(block[..<end])
                block = block[(end + 1)...]
                return line
            }
            line.append(block)
            block = []
            guard let next = try await blocks.next() else {
                return line.bytes.isEmpty || !blocks.isAtEnd ? nil : line
            }
            block = next[...]
        }
    }
}

extension [UInt8] {
    /// The bytes without surrounding blanks.
    fileprivate var trimmed: ArraySlice<UInt8> {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return []
        }
        return self[first...last]
    }
}
