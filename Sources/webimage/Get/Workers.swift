import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// As many threads as there are processors, for checking and encoding: Swift's own must stay free for the downloads.
final class Workers: Sendable {
    private let queues: [DispatchQueue]
    private let turn = Atomic<Int>(0)

    /// How many threads there are.
    var count: Int { queues.count }

    init(count: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) {
        queues = (0..<max(1, count)).map { DispatchQueue(label: "webimage.worker.\($0)") }
    }

    /// What `body` returns, after the others that wait for the same thread.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        let index = turn.add(1, ordering: .relaxed).oldValue % queues.count
        return try await withCheckedThrowingContinuation { continuation in
            queues[index].async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
