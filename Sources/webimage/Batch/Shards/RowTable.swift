import WebimageConsole

import Glibc

/// The extents of rows in a file; if there are many, in a file of their own, so that a shard of any
/// number of rows takes little memory.
///
/// That file has 16 bytes for each row up to the highest: the position and the number of its bytes, or zeros. Not
/// `Sendable`: its methods block.
final class RowTable {
    /// The bytes of a row in the file.
    struct Extent: Equatable {
        let row: Int
        let offset: Int
        let count: Int
    }

    /// The maximum number of extents in memory.
    static let longest = 65_536
    private static let entrySize = 16
    private static let entriesPerBlock = 4_096

    private let path: String
    private let longest: Int
    /// The extents, until they are in the file.
    private var extents: [Extent] = []
    private var isSorted = false
    /// The descriptor of the file; negative as long as there is none.
    private var descriptor: Int32 = -1
    /// The entries that have been read, and the row of the first one.
    private var block: [UInt8] = []
    private var blockStart = 0
    private var row = 0

    /// Creates an empty table for the file that will be at `path`; it keeps up to `longest` extents in memory.
    init(path: String, longest: Int = RowTable.longest) {
        self.path = path
        self.longest = longest
    }

    /// Moves the extents to a file.
    private func makeFile() throws(FileError) {
        let temporaryPath = ReplacingFile.temporaryPath(of: path, "table")
        descriptor = TemporaryName.openNew(temporaryPath, mode: 0o600)
        guard descriptor >= 0 else { throw FileError("create", path, code: -descriptor) }
        // No other process needs it.
        unsafe unlink(temporaryPath)
        for extent in extents { try write(extent) }
        extents = []
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Sets the extent of a row.
    func set(_ extent: Extent) throws(FileError) {
        if descriptor < 0, extents.count < longest { return extents.append(extent) }
        if descriptor < 0 { try makeFile() }
        try write(extent)
    }

    private func write(_ extent: Extent) throws(FileError) {
        var entry: [UInt8] = []
        for number in [extent.offset, extent.count] {
            for shift in stride(from: 0, to: 64, by: 8) { entry.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        while true {
            let position = off_t(extent.row * Self.entrySize)
            let written = unsafe entry.withUnsafeBytes {
                unsafe pwrite(descriptor, $0.baseAddress, $0.count, position)
            }
            if written == entry.count { return }
            // A short write is repeated as a whole; it fails then.
            guard written >= 0 || errno == EINTR else { throw FileError("write to", path) }
        }
    }

    /// Returns the next extent in the order of their rows; `nil` after the last one.
    ///
    /// Call this method after all extents are set.
    func next() throws(FileError) -> Extent? {
        guard descriptor >= 0 else { return nextInMemory() }
        while true {
            while (row - blockStart + 1) * Self.entrySize <= block.count {
                let start = (row - blockStart) * Self.entrySize
                func number(_ index: Int) -> Int {
                    block[(start + index)..<(start + index + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
                }
                defer { row += 1 }
                if number(8) > 0 { return Extent(row: row, offset: number(0), count: number(8)) }
            }
            guard try readBlock() else { return nil }
        }
    }

    private func nextInMemory() -> Extent? {
        if !isSorted { extents.sort { $0.row > $1.row } }
        isSorted = true
        return extents.popLast()
    }

    /// Reads the entries from ``row`` on; returns `false` at the end of the table.
    private func readBlock() throws(FileError) -> Bool {
        let size = Self.entriesPerBlock * Self.entrySize
        var entries = [UInt8](repeating: 0, count: size)
        while true {
            let position = off_t(row * Self.entrySize)
            let count = unsafe entries.withUnsafeMutableBytes {
                unsafe pread(descriptor, $0.baseAddress, size, position)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError("read", path) }
            block = Array(entries.prefix(count / Self.entrySize * Self.entrySize))
            blockStart = row
            return !block.isEmpty
        }
    }
}
