import Threading
import WebimageConsole

/// A file of lines of a list, in the format of the list, that appears when it is complete.
final class LineFile: Sendable {
    private struct State {
        let file: PartFile
        var failure: FileError?
        var isEmpty = true
    }

    private let state: Locked<State>

    init(path: String) throws(FileError) {
        state = Locked(State(file: try PartFile(path: path)))
    }

    /// Adds the line of an entry, and the header of its list in front of the first one.
    func append(_ entry: ListEntry) {
        // The rest of a line that is too long is lost.
        guard !entry.line.isCut else { return }
        state.withLock { state in
            do throws(FileError) {
                if state.isEmpty, let header = entry.header { try state.file.append(header + [UInt8(ascii: "\n")]) }
                state.isEmpty = false
                try state.file.append(entry.line.bytes + [UInt8(ascii: "\n")])
            } catch {
                state.failure = state.failure ?? error
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
