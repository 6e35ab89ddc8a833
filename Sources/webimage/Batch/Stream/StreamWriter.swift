import Threading
import WebimageConsole

import Glibc

/// A thread that writes to a descriptor, which may block, in the order in which the pieces are added.
final class StreamWriter: Sendable {
    /// Bytes to be written together.
    struct Piece: Sendable {
        let head: [UInt8]
        var body: [UInt8] = []
        /// Called when the piece is written, or never will be.
        var whenDone: @Sendable () -> Void = {}
    }

    private enum Job: Sendable {
        case write(Piece)
        case end(CheckedContinuation<Void, Never>)
    }

    /// Two parts up to this size are written with one call.
    private static let joinedSize = 256 << 10

    private let jobs = BlockingQueue<Job>()
    private let state = Locked(State())
    private let descriptor: Int32
    private let name: String

    private struct State {
        var failure: FileError?
        var handler: (@Sendable (FileError) -> Void)?

        /// Stores the first failure; returns the handler to call.
        mutating func fail(_ error: FileError) -> (@Sendable (FileError) -> Void)? {
            guard failure == nil else { return nil }
            failure = error
            return handler
        }
    }

    /// Starts the thread.
    init(descriptor: Int32, named name: String) {
        self.descriptor = descriptor
        self.name = name
        startRequiredThread(named: "webimage-output") { [jobs, state] in
            while let job = jobs.next() {
                switch job {
                case .end(let continuation): continuation.resume()
                case .write(let piece):
                    if state.withLock({ $0.failure }) == nil {
                        do throws(FileError) {
                            try Self.write(piece, to: descriptor, name)
                        } catch {
                            state.withLock { $0.fail(error) }?(error)
                        }
                    }
                    piece.whenDone()
                }
            }
        }
    }

    /// Calls `handler` once if the descriptor cannot be written anymore, for example because its reader has ended.
    func whenFailed(_ handler: @escaping @Sendable (FileError) -> Void) {
        let failure = state.withLock { state in
            state.handler = handler
            return state.failure
        }
        if let failure { handler(failure) }
    }

    deinit { jobs.close() }

    func append(_ piece: Piece) { jobs.append(.write(piece)) }

    /// Waits until all pieces are written.
    func finish() async throws(FileError) {
        await withCheckedContinuation { jobs.append(.end($0)) }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Notices a reader that ends while there is nothing to write, until the task is canceled.
    func watchReader() async {
        while (try? await Task.sleep(for: .milliseconds(500))) != nil {
            guard hasNoReader else { continue }
            let error = FileError("write to", name, code: EPIPE)
            return state.withLock { $0.fail(error) }?(error) ?? ()
        }
    }

    /// A Boolean value that indicates whether the reader of a pipe or socket has gone.
    private var hasNoReader: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&state, 1, 0) > 0 && state.revents & Int16(POLLERR) != 0
    }

    private static func write(_ piece: Piece, to descriptor: Int32, _ name: String) throws(FileError) {
        if piece.body.count <= joinedSize {
            try FileDescriptor.write(piece.head + piece.body, to: descriptor, named: name)
        } else {
            try FileDescriptor.write(piece.head, to: descriptor, named: name)
            try FileDescriptor.write(piece.body, to: descriptor, named: name)
        }
    }
}
