import Dispatch
import Threading
import WebimageConsole

import Glibc

/// The blocks of a file or of standard input, read on demand.
///
/// Waiting for a slow pipe does not block a thread. Not `Sendable`: used by one reader.
final class InputBlocks {
    private static let blockSize = 65_536

    private let descriptor: Int32
    private let name: String
    private(set) var isAtEnd = false
    /// The number of bytes read so far.
    private(set) var bytesRead = 0
    /// Ends reading as if the task were canceled.
    let stop = ReadingStop()

    /// Opens the file at `path`, or standard input for `-`.
    init(path: String) throws(FileError) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("read", path) }
    }

    deinit {
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// The size of a regular file in bytes; `nil` for anything else.
    var totalBytes: Int? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// Returns the next block; `nil` at the end, or when the task is canceled.
    func next() async throws(FileError) -> [UInt8]? {
        guard !isAtEnd else { return nil }
        await waitUntilReadable(descriptor, stop)
        guard !Task.isCancelled, !stop.isStopped else { return nil }
        let block = try FileDescriptor.read(Self.blockSize, from: descriptor, named: name)
        bytesRead += block.count
        isAtEnd = block.isEmpty
        return isAtEnd ? nil : block
    }
}

/// A signal to end reading from another task.
final class ReadingStop: Sendable {
    private struct State {
        var isStopped = false
        var source: ReadSource?
    }

    private let state = Locked(State())

    var isStopped: Bool { state.withLock { $0.isStopped } }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            return state.source
        }?.source.cancel()
    }

    /// Sets the source that is waited for.
    fileprivate func ends(_ source: ReadSource?) {
        let isStopped = state.withLock { state in
            state.source = source
            return state.isStopped
        }
        if isStopped { source?.source.cancel() }
    }
}

/// Returns when reading would not block, or the task is canceled or reading is stopped, without blocking a thread on a
/// slow pipe.
private func waitUntilReadable(_ descriptor: Int32, _ stop: ReadingStop) async {
    guard !FileDescriptor.isReadable(descriptor, within: 0) else { return }
    let source = ReadSource(source: DispatchSource.makeReadSource(fileDescriptor: descriptor))
    await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            source.source.setEventHandler { source.source.cancel() }
            source.source.setCancelHandler { continuation.resume() }
            source.source.activate()
            stop.ends(source)
        }
    } onCancel: {
        source.source.cancel()
    }
    stop.ends(nil)
}

/// `@unchecked Sendable`: dispatch sources can be used from any thread, but are not marked as such on Linux.
fileprivate struct ReadSource: @unchecked Sendable {
    let source: any DispatchSourceRead
}
