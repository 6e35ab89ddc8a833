import CurlMultiLoop
import Foundation

/// The limit for small bodies: a loop in C on libcurl's multi interface that fetches in bulk and awaits nothing.
public enum CurlMulti: Sendable {
    /// The results of a run.
    public struct Run: Sendable {
        /// The time each transfer took, in nanoseconds, in the order in which they ended.
        public let latencies: [UInt64]
        /// The size of all bodies, in bytes.
        public let byteCount: Int
    }

    /// Fetches `prefix` followed by each number from 0 to `count` - 1, with at most `concurrency` transfers at a time.
    ///
    /// Runs on its own thread. Throws ``EngineError/curl(_:)`` at the first transfer that fails.
    public static func run(prefix: String, count: Int, concurrency: Int) async throws -> Run {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try runBlocking(prefix, count, concurrency) })
            }
        }
    }

    private static func runBlocking(_ prefix: String, _ count: Int, _ concurrency: Int) throws -> Run {
        var result = curl_multi_loop_result()
        var latencies = [UInt64](repeating: 0, count: count)
        let failure = unsafe latencies.withUnsafeMutableBufferPointer { latencies in
            unsafe prefix.withCString { prefix in
                var options = unsafe curl_multi_loop_options(
                    prefix: prefix, count: count, concurrency: concurrency, latencies: latencies.baseAddress)
                return unsafe curl_multi_loop_run(&options, &result).map { unsafe String(cString: $0) }
            }
        }
        if let failure { throw EngineError.curl(failure) }
        latencies.removeLast(count - result.completed)
        return Run(latencies: latencies, byteCount: Int(result.body_bytes))
    }
}
