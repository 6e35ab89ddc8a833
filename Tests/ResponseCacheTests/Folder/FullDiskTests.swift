import Foundation
import HTTPTransport
import HTTPTypes
import TestSupport
import Testing
import Threading

@testable import ResponseCache

import Glibc

/// A small file system in memory, which only the superuser can mount.
private enum SmallDisk {
    static func mount(_ path: String, options: String, flags: UInt = 0) -> Bool {
        Glibc.mount("tmpfs", path, "tmpfs", flags, options.isEmpty ? "mode=700" : "mode=700,\(options)") == 0
    }

    static func unmount(_ path: String) { umount2(path, Int32(MNT_DETACH)) }

    static let isPossible: Bool = {
        let path = NSTemporaryDirectory() + "/async-web-image-mount-\(getpid())"
        guard mkdir(path, 0o700) == 0 else { return false }
        defer { rmdir(path) }
        guard mount(path, options: "size=64k") else { return false }
        unmount(path)
        return true
    }()

    static func with(_ size: String, _ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try #require(mount(folder, options: "size=\(size)"))
            defer { unmount(folder) }
            try await body(folder)
        }
    }
}

/// A disk that is full or cannot be written costs some entries, not the cache.
@Suite(.timeLimit(.minutes(5)), .enabled(if: SmallDisk.isPossible))
struct FullDiskTests {
    private let url = "http://example.com/"
    private let time = ManualTime()

    private func body(_ number: Int) -> [UInt8] { (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &+ number) } }

    @Test func leastRecentlyUsedEntriesAreEvictedOnAFullDisk() async throws {
        try await SmallDisk.with("2m") { folder in
            let cache = try ResponseCache.test(folder, time)
            for number in 0..<100 { try await cache.store(body(number), url + "\(number)") }
            var found: [Int] = []
            for number in 0..<100 {
                guard let stored = try await cache.stored(url + "\(number)") else { continue }
                #expect(stored == body(number))
                found.append(number)
            }
            #expect(found.count > 10 && found.last == 99)
            #expect(found == Array(100 - found.count..<100))
            #expect(try cacheFiles(folder).count == found.count)
            #expect(cache.failure == nil)
        }
    }

    @Test func aBodyLargerThanTheDiskIsNotStoredAndLeavesNothing() async throws {
        try await SmallDisk.with("1m") { folder in
            let cache = try ResponseCache.test(folder, time)
            let reports = Tally()
            cache.onFailure { _ in reports.add() }
            for number in 0..<3 { try await cache.store([UInt8](repeating: 1, count: 3 << 20), url + "\(number)") }
            #expect(try cacheFiles(folder) == [])
            try await cache.store(body(1), url)
            #expect(try await cache.stored(url) == body(1))
            // The cause, as it is logged.
            #expect(cache.failure.map { "\($0)" } == "No space left on device")
            #expect(reports.count == 1)
        }
    }

    /// Its length is known before or only at its end.
    @Test(arguments: [true, false])
    func aBodyLargerThanTheDiskDoesNotEmptyTheCache(knowsLength: Bool) async throws {
        try await SmallDisk.with("3m") { folder in
            let cache = try ResponseCache.test(folder, time)
            for number in 0..<30 { try await cache.store(body(number), url + "\(number)") }
            let request = TransportRequest(url: try HTTPURL(url))
            let head = StoredHead(
                HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]), to: request,
                requestedAt: time.now, receivedAt: time.now)
            let size = 5 << 20
            let writer = EntryWriter(head, CachedResource(request), cache: cache, length: knowsLength ? size : nil)
            for _ in 0..<(size >> 18) { await writer.append([UInt8](repeating: 1, count: 1 << 18)) }
            await writer.commit()
            await cache.settles()
            #expect(cache.entryCount >= (knowsLength ? 30 : 14))
            #expect(try cacheFiles(folder).count == cache.entryCount)
        }
    }

    @Test func aFolderThatCannotBeWrittenIsReportedOnceAndRead() async throws {
        try await SmallDisk.with("2m") { folder in
            try await (try ResponseCache.test(folder, time)).store(body(1), url)
            // Not before the first cache has closed its files.
            let isMounted = { SmallDisk.mount(folder, options: "", flags: UInt(MS_REMOUNT | MS_RDONLY)) }
            while !isMounted(), !Task.isCancelled { await Task.yield() }
            let cache = try ResponseCache.test(folder, time)
            let reports = Tally()
            cache.onFailure { _ in reports.add() }
            try await cache.store(body(2), url + "2")
            #expect(try await cache.stored(url) == body(1))
            #expect(try await cache.stored(url + "2") == nil)
            #expect(cache.entryCount == 1)
            #expect(cache.failure as? FileFailure == FileFailure(code: EROFS))
            #expect(reports.count == 1)
        }
    }
}
