import Threading
import WebimageConsole

import Glibc

/// A thread that writes to a descriptor, which may block, in the order in which the blocks are added.
final class StreamWriter: Sendable {
    /// Bytes to be written together.
    struct Block: Sendable {
        let head: [UInt8]
        var body: [UInt8] = []
    }

    private struct Job: Sendable {
        let block: Block
        /// Resumed when the block is written, or never will be.
        let continuation: CheckedContinuation<Void, Never>
    }

    /// Two parts up to this size are written with one call.
    private static let joinedSize = 256 << 10

    private let jobs = BlockingQueue<Job>()
    private let failure = Locked<FileError?>(nil)
    private let descriptor: Int32
    private let name: String

    /// Starts the thread.
    init(descriptor: Int32, named name: String) throws(FileError) {
        self.descriptor = descriptor
        self.name = name
        do throws(ThreadFailure) {
            try startThread(named: "webimage-output") { [jobs, failure] in
                while let job = jobs.next() {
                    if failure.withLock({ $0 }) == nil {
                        do throws(FileError) {
                            try Self.write(job.block, to: descriptor, name)
                        } catch {
                            failure.withLock { $0 = error }
                        }
                    }
                    job.continuation.resume()
                }
            }
        } catch {
            throw FileError("start a thread for", name, code: error.code)
        }
    }

    deinit { jobs.close() }

    /// Writes a block after those that have been passed before, and returns when it is written.
    ///
    /// Throws the first error of a block, after which nothing is written anymore.
    func write(_ block: Block) async throws(FileError) {
        await withCheckedContinuation { jobs.append(Job(block: block, continuation: $0)) }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Notices a reader that ends while there is nothing to write; returns when the task is canceled.
    func watchReader() async throws(FileError) {
        while (try? await Task.sleep(for: .milliseconds(500))) != nil {
            if hasNoReader { throw FileError("write to", name, code: EPIPE) }
        }
    }

    /// A Boolean value that indicates whether the reader of a pipe or socket has gone.
    private var hasNoReader: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&state, 1, 0) > 0 && state.revents & Int16(POLLERR | POLLHUP) != 0
    }

    private static func write(_ block: Block, to descriptor: Int32, _ name: String) throws(FileError) {
        if block.body.count <= joinedSize {
            try FileDescriptor.write(block.head + block.body, to: descriptor, named: name)
        } else {
            try FileDescriptor.write(block.head, to: descriptor, named: name)
            try FileDescriptor.write(block.body, to: descriptor, named: name)
        }
    }
}
