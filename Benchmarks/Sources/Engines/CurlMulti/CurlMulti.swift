import CurlMultiLoop
import Foundation

/// The limit for small bodies: a loop in C on libcurl's multi interface that fetches in bulk and awaits nothing.
///
/// Its runs share connections and TLS sessions; they must not overlap.
@safe public final class CurlMulti: Sendable {
    /// The settings of a loop.
    public struct Options: Sendable, Hashable {
        /// The maximum number of concurrent transfers.
        public var concurrency: Int
        /// The maximum number of connections that are kept; `nil` for ``concurrency``.
        public var connections: Int?
        /// The file of the certificate authorities that are trusted, which is parsed once; `nil` for libcurl's default.
        public var certificateAuthorityFile: String?
        /// A Boolean value that indicates whether a transfer waits for a connection that is being opened and may turn
        /// out to be one of HTTP/2.
        public var sharesConnections: Bool
        /// A Boolean value that indicates whether the memory of a body is freed instead of being reused.
        public var freesBodies: Bool

        /// Creates settings.
        public init(
            concurrency: Int, connections: Int? = nil, certificateAuthorityFile: String? = nil,
            sharesConnections: Bool = false, freesBodies: Bool = false
        ) {
            self.concurrency = concurrency
            self.connections = connections
            self.certificateAuthorityFile = certificateAuthorityFile
            self.sharesConnections = sharesConnections
            self.freesBodies = freesBodies
        }
    }

    /// The results of a run.
    public struct Run: Sendable {
        /// The time each transfer took, in nanoseconds, in the order in which they ended.
        public let latencies: [UInt64]
        /// The size of all bodies, in bytes.
        public let byteCount: Int
    }

    /// The URLs of a run.
    public enum URLs: Sendable {
        /// A prefix followed by each number from 0 to a number less than `count`.
        case numbered(prefix: String, count: Int)
        /// The elements of an array.
        case list([String])

        fileprivate var count: Int {
            switch self {
            case .numbered(_, let count): count
            case .list(let urls): urls.count
            }
        }
    }

    // Only one run uses it at a time.
    private nonisolated(unsafe) let loop: OpaquePointer

    /// Creates a loop without connections.
    public init(_ options: Options) throws {
        let loop = unsafe options.certificateAuthorityFile.withOptionalCString { file in
            var options = unsafe curl_multi_loop_options(
                concurrency: options.concurrency, connections: options.connections ?? 0, authority_file: file,
                shares_connections: options.sharesConnections, frees_bodies: options.freesBodies)
            return unsafe curl_multi_loop_open(&options)
        }
        guard let loop = unsafe loop else { throw EngineError.curl("out of memory or descriptors") }
        unsafe self.loop = loop
    }

    deinit {
        unsafe curl_multi_loop_close(loop)
    }

    /// Fetches `urls`, on a thread of its own.
    ///
    /// Throws ``EngineError/curl(_:)`` at the first transfer that fails.
    public func run(_ urls: URLs) async throws -> Run {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try self.runBlocking(urls) })
            }
        }
    }

    /// Fetches `prefix` followed by each number from 0 to `count` - 1 with a new loop.
    public static func run(prefix: String, count: Int, concurrency: Int) async throws -> Run {
        try await CurlMulti(Options(concurrency: concurrency)).run(.numbered(prefix: prefix, count: count))
    }

    private func runBlocking(_ urls: URLs) throws -> Run {
        var result = curl_multi_loop_result()
        var latencies = [UInt64](repeating: 0, count: urls.count)
        let failure = unsafe latencies.withUnsafeMutableBufferPointer { latencies in
            unsafe urls.withWork { work in
                var work = unsafe work
                unsafe work.latencies = latencies.baseAddress
                return unsafe curl_multi_loop_run(loop, &work, &result).map { unsafe String(cString: $0) }
            }
        }
        if let failure { throw EngineError.curl(failure) }
        latencies.removeLast(urls.count - result.completed)
        return Run(latencies: latencies, byteCount: Int(result.body_bytes))
    }
}

extension CurlMulti.URLs {
    /// Calls `body` with the work in C, without latencies.
    fileprivate func withWork<Result>(_ body: (curl_multi_loop_work) -> Result) -> Result {
        switch self {
        case .numbered(let prefix, let count):
            return unsafe prefix.withCString { prefix in
                unsafe body(curl_multi_loop_work(prefix: prefix, urls: nil, count: count, latencies: nil))
            }
        case .list(let urls):
            let words = unsafe urls.map { unsafe UnsafePointer(strdup($0)) }
            defer { unsafe words.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
            return unsafe words.withUnsafeBufferPointer { words in
                unsafe body(
                    curl_multi_loop_work(prefix: nil, urls: words.baseAddress, count: words.count, latencies: nil))
            }
        }
    }
}

extension String? {
    /// Calls `body` with the characters in C, or with `nil`.
    fileprivate func withOptionalCString<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let self else { return body(nil) }
        return unsafe self.withCString { unsafe body($0) }
    }
}
