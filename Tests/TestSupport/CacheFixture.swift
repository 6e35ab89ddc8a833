import Dispatch
import Foundation
import HTTPTransport
package import HTTPTypes
package import ResponseCache
import Threading

/// A time that stands still until a test moves it, in seconds.
package final class ManualTime: Sendable {
    private let seconds = Locked(1_000_000_000)

    package init() {}

    package var now: Int { seconds.withLock { $0 } }

    package func advance(by count: Int) { seconds.withLock { $0 += count } }
}

/// A storage with which a cache must work.
package enum TestStorage: Sendable, CaseIterable {
    case folder
    case memory
    /// A storage made with the public protocols.
    case dictionary

    /// Returns a cache with this storage, whose time a test moves.
    package func cache(
        _ folder: String, _ time: ManualTime, maximumBytes: Int = 64 << 20, maximumEntryBytes: Int = 16 << 20
    ) throws -> ResponseCache {
        guard self == .dictionary else {
            return try .test(
                self == .folder ? folder : nil, time, maximumBytes: maximumBytes, maximumEntryBytes: maximumEntryBytes)
        }
        return ResponseCache(
            ResponseCache.Configuration(maximumBytes: maximumBytes, maximumEntryBytes: maximumEntryBytes),
            storage: DictionaryStorage(), now: { time.now })
    }
}

extension ResponseCache {
    /// A cache whose time a test moves.
    package static func test(
        _ directory: String?, _ time: ManualTime, maximumBytes: Int = 64 << 20, maximumEntryBytes: Int = 16 << 20,
        traffic: FileIOStatistics? = nil
    ) throws -> ResponseCache {
        try ResponseCache(
            Configuration(directory: directory, maximumBytes: maximumBytes, maximumEntryBytes: maximumEntryBytes),
            traffic: traffic,
            now: { time.now })
    }

    /// Returns when the cache has finished all pending work.
    package func settles() async { await flush() }

    /// Stores a body under a URL.
    package func store(
        _ body: [UInt8], _ url: String, _ fields: HTTPFields = [.cacheControl: "max-age=60"],
        to requestFields: HTTPFields = [:]
    ) async throws {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: requestFields)
        let head = StoredHead(
            HTTPResponse(status: .ok, headerFields: fields), to: request, requestedAt: now(), receivedAt: now())
        let writer = EntryWriter(head, CachedResource(request), cache: self)
        await writer.append(body)
        await writer.commit()
        await settles()
    }

    /// The body stored under a URL; nil if there is none, or it is damaged.
    package func stored(_ url: String, to requestFields: HTTPFields = [:]) async throws -> [UInt8]? {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: requestFields)
        let body = Locked<[UInt8]?>(nil)
        await thread.run {
            guard let stored = self.find(.whole, request, CachedResource(request)) else { return }
            var bytes: [UInt8] = []
            var reader = StoredBodyReader(stored.body)
            do { while let piece = try reader.next() { bytes += piece } } catch { return }
            body.withLock { $0 = bytes }
        }
        return body.withLock { $0 }
    }
}

/// Runs `body` with the path of a new folder, which is gone afterward.
package func withTemporaryFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let path = NSTemporaryDirectory() + "/async-web-image-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

/// The paths of the files in the folder of a cache, without the ledger.
package func cacheFiles(_ folder: String) throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { path in
        let type = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")[.type] as? FileAttributeType
        return path != "v5/ledger" && type != .typeDirectory
    }
}

/// Keeps all threads of a cache busy until it is released.
package final class HeldCache: Sendable {
    private let gate = DispatchSemaphore(value: 0)

    package init(_ cache: ResponseCache) {
        for _ in 0..<CacheThreads.count { cache.thread.append { [gate] in gate.wait() } }
    }

    /// Lets the threads continue.
    package func release() {
        for _ in 0..<CacheThreads.count { gate.signal() }
    }
}
