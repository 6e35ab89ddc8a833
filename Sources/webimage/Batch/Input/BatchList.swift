import Hashing
import WebimageConsole

/// The entries of a list, read on demand.
actor BatchList {
    private let reader: LineReader
    private nonisolated let readingStop: ReadingStop
    /// A Boolean value that indicates whether the list is a regular file, whose beginning is there at once.
    nonisolated let isRegular: Bool
    private let path: String
    private let columns: ListColumns
    private let purpose: Purpose
    private let givenFormat: ListFormat?
    /// The format; `nil` before the first line is read.
    private var format: ListFormat?
    private var header: [String] = []
    private var headerLine: [UInt8]?
    /// The first entries, until they are returned.
    private var head: [ListEntry] = []
    /// The number of entries that have been read.
    private(set) var count = 0
    /// The numbers of lines that have been read.
    private(set) var counts = ListCounts()

    /// The purpose of the entries.
    struct Purpose: Sendable {
        var reader = ListHead.Reader.batch
        /// A Boolean value that indicates whether additional columns are passed on, so that their names matter.
        var passesOn = false
        /// A Boolean value that indicates whether a list without entries is an error.
        var requiresEntries = false
    }

    /// Opens the list at `path`, or standard input for `-`; without a format, it is determined by the name or the
    /// first byte that is not blank.
    init(path: String, format: ListFormat? = nil, columns: ListColumns = ListColumns(), for purpose: Purpose)
        throws(FileError)
    {
        reader = try LineReader(path: path)
        readingStop = reader.stop
        isRegular = reader.totalBytes != nil
        self.path = path
        self.columns = columns
        self.purpose = purpose
        givenFormat = format
    }

    private var name: String { path == "-" ? "standard input" : path }

    /// A Boolean value that indicates whether reading was stopped.
    nonisolated var isStopped: Bool { readingStop.isStopped }

    /// Ends the list, because no further entry is to be read.
    nonisolated func stop() { readingStop.stop() }

    /// The fraction of the list that has been read, from 0 to 1; `nil` if the length is unknown.
    var progress: Double? {
        reader.totalBytes.flatMap { $0 > 0 ? min(1, Double(reader.bytesRead) / Double($0)) : nil }
    }

    /// Reads the first entry; throws ``UnusableList`` if the beginning makes the list unusable.
    ///
    /// Called before anything is written that depends on the list.
    func check() async throws {
        if head.isEmpty, let entry = try await read() { head.append(entry) }
    }

    /// Returns a digest of the header, if there is one, and the first 100 lines, or fewer if they have 1 MiB.
    ///
    /// Called before ``next()``.
    func headDigest() async throws -> String {
        var digest = try MessageDigest(.sha256)
        var size = 0
        var index = 0
        while index < 100, size < 1 << 20 {
            if index == head.count {
                guard let entry = try await read() else { break }
                head.append(entry)
            }
            let entry = head[index]
            if index == 0, let header = entry.header { digest.update(header + [UInt8(ascii: "\n")]) }
            index += 1
            size += entry.line.bytes.count
            digest.update(entry.line.bytes + [UInt8(ascii: "\n")])
        }
        return try digest.finish().hexadecimal
    }

    /// Returns the next entry; `nil` at the end of the list, or when the task is canceled.
    func next() async throws -> ListEntry? {
        isStopped ? nil : head.isEmpty ? try await read() : head.removeFirst()
    }

    private func read() async throws -> ListEntry? {
        if format == nil { try await begin() }
        while let line = try await nextLine() {
            guard let first = line.firstByte else {
                counts.blank += 1
                continue
            }
            if format == .lines, first == UInt8(ascii: "#") {
                counts.comments += 1
                continue
            }
            defer { count += 1 }
            return try entry(line)
        }
        guard count > 0 || !purpose.requiresEntries || Task.isCancelled || isStopped else {
            throw UnusableList(description: "\(name) is an empty list: it has no line with a URL")
        }
        return nil
    }

    private func nextLine() async throws -> RawLine? {
        guard let line = try await reader.next() else { return nil }
        counts.lines += 1
        if format == .csv {
            let continued = line.bytes.count { $0 == UInt8(ascii: "\n") }
            counts.continued += continued
            counts.lines += continued
        }
        return line
    }

    private func begin() async throws {
        let (bytes, isWhole) = try await reader.head()
        let head = ListHead(name: name, path: path, bytes: bytes, isWhole: isWhole)
        if let fault = head.fault { throw UnusableList(description: fault) }
        let format = givenFormat ?? ListFormat(path: path) ?? ListFormat(beginning: bytes)
        if purpose.reader == .get, format != .lines {
            throw UnusableList(description: "\(name) is a list in another format: \(ListHead.batch(path, format))")
        }
        let fault: String? =
            switch format {
            // Whoever says so knows what the lines are.
            case .lines: givenFormat == nil ? head.faultOfLines(columns: columns, reader: purpose.reader) : nil
            case .ndjson: head.faultOfObjects(columns: columns)
            case .csv, .tsv: nil
            }
        if let fault { throw UnusableList(description: fault) }
        self.format = format
        if let separator = format.separator { try await readHeader(format, separator) }
    }

    private func readHeader(_ format: ListFormat, _ separator: UInt8) async throws {
        if format == .csv { reader.joinQuotedLines(separator: separator) }
        var first = try await nextLine()
        while let line = first, line.firstByte == nil {
            counts.blank += 1
            first = try await nextLine()
        }
        guard let line = first else { return }
        guard !line.isCut, let values = format.values(of: line.bytes) else {
            throw UnusableList(description: "the first line of \(name) is not a header with column names")
        }
        counts.header = 1
        headerLine = line.bytes
        header = values.map { String(decoding: $0, as: UTF8.self) }
        for (column, option) in columns.required where !header.contains(column) {
            let names = header.prefix(20).joined(separator: ", ")
            throw UnusableList(
                description: "\(name), whose columns are \(names), has no column \(column): see \(option)")
        }
        guard Set(header).count == header.count else {
            throw UnusableList(description: "\(name) has two columns with the same name")
        }
        try refuseReserved(header)
    }

    private func entry(_ line: RawLine) throws -> ListEntry {
        switch format {
        case .ndjson:
            var entry = ListEntry(jsonLine: line, index: count, columns: columns)
            guard purpose.passesOn else {
                entry.passedOn = []
                return entry
            }
            let names = entry.passedOn.compactMap { JSONScanner.text(of: $0.name[...]) }
            guard let conflict = columns.conflict(among: names) else { return entry }
            if count == 0 { try refuseReserved(names) }
            entry.problem = "the member \(conflict) is reserved"
            entry.passedOn = []
            return entry
        case .csv?, .tsv?:
            var entry = ListEntry(
                line: line, index: count, header: header, format: format ?? .csv, columns: columns)
            if !purpose.passesOn { entry.passedOn = [] }
            entry.header = headerLine
            return entry
        case .lines, nil:
            // Not before the first line: an empty list of any format lacks nothing.
            if count == 0, let (column, option) = columns.selected.first {
                throw UnusableList(
                    description: "\(name) has one URL per line, and so no column \(column): see \(option)")
            }
            return ListEntry(urlLine: line, index: count)
        }
    }

    private func refuseReserved(_ names: [String]) throws {
        guard purpose.passesOn, let conflict = columns.conflict(among: names) else { return }
        let remedy = conflict == "caption" ? "use --caption-col caption, or rename it" : "rename it"
        throw UnusableList(
            description: "\(name) has a column \(conflict), which is a column of the output: \(remedy)")
    }
}

/// The error when a list cannot be used, with the reason and the remedy.
struct UnusableList: Error, CustomStringConvertible {
    let description: String
}
