import Threading
import WebimageConsole

/// A file of lines of a list, in the format of the list, that appears when it is placed.
final class LineFile: Sendable {
    private static let blockSize = 256 << 10

    private struct State {
        let file: ReplacingFile
        var failure: FileError?
        var isEmpty = true
        var header: [UInt8]?

        /// Notes the header of the list, and writes it if `writesHeader`, in front of the first line.
        mutating func begin(_ header: [UInt8]?, writesHeader: Bool) throws(FileError) {
            guard isEmpty else { return }
            isEmpty = false
            self.header = header
            if writesHeader, let header { try file.append(header + [UInt8(ascii: "\n")]) }
        }
    }

    private let state: Locked<State>
    private let hasHeader: Bool

    /// Creates the file that will be at `path`; without a header, its lines are to be added to another one.
    init(path: String, hasHeader: Bool = true) throws(FileError) {
        state = Locked(State(file: try ReplacingFile(path: path)))
        self.hasHeader = hasHeader
    }

    /// Adds the line of an entry, and the header of its list in front of the first one.
    ///
    /// Lines that can never be answered are left out: the rest of one that is too long is lost, and a quoted field that
    /// does not end would take in the lines after it, which are others here than in the list.
    func append(_ entry: ListEntry) {
        guard !entry.line.isCut, entry.problem == nil || !entry.line.bytes.contains(UInt8(ascii: "\"")) else { return }
        state.withLock { state in
            do throws(FileError) {
                try state.begin(entry.header, writesHeader: hasHeader)
                try state.file.append(entry.line.bytes + [UInt8(ascii: "\n")])
            } catch {
                state.failure = state.failure ?? error
            }
        }
    }

    /// Adds the lines of a file without a header.
    func append(contentsOf other: LineFile) {
        other.state.withLock { lines in
            guard !lines.isEmpty else { return }
            state.withLock { state in
                do throws(FileError) {
                    if let failure = lines.failure { throw failure }
                    try state.begin(lines.header, writesHeader: hasHeader)
                    for offset in stride(from: 0, to: lines.file.count, by: Self.blockSize) {
                        let count = min(Self.blockSize, lines.file.count - offset)
                        try state.file.append(try lines.file.read(count, at: offset))
                    }
                } catch {
                    state.failure = state.failure ?? error
                }
            }
        }
    }

    /// Gives the file its name.
    func place() throws(FileError) {
        try state.withLock { state throws(FileError) in
            if let failure = state.failure { throw failure }
            try state.file.place()
        }
    }
}
