import Hashing
import WebimageConsole

/// The entries of a list, read on demand.
actor BatchList {
    private let reader: LineReader
    private nonisolated let readingStop: ReadingStop
    private let name: String
    private let columns: ListColumns
    /// A Boolean value that indicates whether additional columns are passed on, so that their names matter.
    private let passesOn: Bool
    private var format: ListFormat?
    private var header: [String] = []
    private var headerLine: [UInt8]?
    private var hasBegun = false
    /// The first entries, until they are returned.
    private var head: [ListEntry] = []
    /// The number of entries that have been read.
    private(set) var count = 0

    /// Opens the list at `path`, or standard input for `-`; without a format, it is determined by the name or the
    /// first byte that is not blank.
    init(path: String, format: ListFormat?, columns: ListColumns, passesOn: Bool) throws(FileError) {
        reader = try LineReader(path: path)
        readingStop = reader.stop
        name = path == "-" ? "standard input" : path
        self.columns = columns
        self.passesOn = passesOn
        self.format = format ?? (path == "-" ? nil : ListFormat(path: path))
    }

    /// A Boolean value that indicates whether reading was stopped.
    nonisolated var isStopped: Bool { readingStop.isStopped }

    /// Ends the list, because no further entry is to be read.
    nonisolated func stop() { readingStop.stop() }

    /// The fraction of the list that has been read, from 0 to 1; `nil` if the length is unknown.
    var progress: Double? {
        reader.totalBytes.flatMap { $0 > 0 ? min(1, Double(reader.bytesRead) / Double($0)) : nil }
    }

    /// Reads the first entry; throws ``UnusableList`` if the header, or the first line, makes the list unusable.
    ///
    /// Called before anything is written that depends on the list.
    func check() async throws {
        if head.isEmpty, let entry = try await read() { head.append(entry) }
    }

    /// Returns a digest of the header, if there is one, and the first 100 lines, or fewer if they have 1 MiB; `nil` if
    /// the list is empty.
    ///
    /// Called before ``next()``.
    func headDigest() async throws -> String? {
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
        return head.isEmpty ? nil : try digest.finish().hexadecimal
    }

    /// Returns the next entry; `nil` at the end of the list, or when the task is canceled.
    func next() async throws -> ListEntry? {
        isStopped ? nil : head.isEmpty ? try await read() : head.removeFirst()
    }

    private func read() async throws -> ListEntry? {
        if !hasBegun { try await begin() }
        while let line = try await reader.next() {
            guard !line.isBlank else { continue }
            defer { count += 1 }
            return try entry(line)
        }
        return nil
    }

    private func begin() async throws {
        hasBegun = true
        if format == nil { format = ListFormat(firstByte: try await reader.firstByte()) }
        guard let separator = format?.separator else { return }
        reader.splitRecords(separator: separator)
        guard let line = try await reader.next() else { return }
        guard !line.isCut, let values = CSVRecord.values(of: line.bytes, separator: separator) else {
            throw UnusableList(description: "the first line of \(name) is not a header with column names")
        }
        headerLine = line.bytes
        header = values.map { String(decoding: $0, as: UTF8.self) }
        for (column, option) in columns.required where !header.contains(column) {
            throw UnusableList(description: "\(name) has no column \(column): see \(option)")
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
            guard passesOn else {
                entry.passedOn = []
                return entry
            }
            let names = entry.passedOn.compactMap { JSONScanner.text(of: $0.name[...]) }
            guard let conflict = columns.conflict(among: names) else { return entry }
            if count == 0 { try refuseReserved(names) }
            entry.problem = "the member \(conflict) is reserved"
            entry.passedOn = []
            return entry
        case .csv, .tsv:
            var entry = ListEntry(
                line: line, index: count, header: header, separator: format?.separator ?? 0, columns: columns)
            if !passesOn { entry.passedOn = [] }
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
        guard passesOn, let conflict = columns.conflict(among: names) else { return }
        throw UnusableList(description: "\(name) has a column \(conflict), which is a column of the output")
    }
}

/// The error when the columns of a list cannot be used.
struct UnusableList: Error, CustomStringConvertible {
    let description: String
}
