import Foundation
import HTTPTransport
import HTTPTypes
import TestSupport
import Testing
import Threading

@testable import ResponseCache

/// A 304 gives an entry a new head in a separate file; its body is unchanged.
@Suite(.timeLimit(.minutes(1)))
struct RenewedHeadTests {
    private let url = "http://example.com/a.png"
    private let body = [UInt8](repeating: 7, count: 100_000)
    private let time = ManualTime()

    private func files(_ folder: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: folder))
    }

    private func data(_ folder: String, _ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
    }

    /// Renews the entry of ``url`` by a 304 with these fields.
    private func renew(_ cache: ResponseCache, _ fields: HTTPFields = [.cacheControl: "max-age=60"]) async throws {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: [.accept: "image/png"])
        let key = CacheKey(request)
        await cache.thread.run { [time] in
            guard let stored = cache.find(.whole, request, key) else { return }
            let head = stored.head.renewed(
                by: HTTPResponse(status: .notModified, headerFields: fields), to: request, requestedAt: time.now,
                receivedAt: time.now)
            _ = cache.renew(stored, head, key)
        }
    }

    /// Returns the stored response for ``url``, without its body.
    private func head(_ cache: ResponseCache) async throws -> StoredHead? {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: [.accept: "image/png"])
        let head = Locked<StoredHead?>(nil)
        await cache.thread.run {
            let found = cache.find(.whole, request, CacheKey(request))?.head
            head.withLock { $0 = found }
        }
        return head.withLock { $0 }
    }

    /// The names of the entry's file and of its renewed head's, an hour after it was stored.
    private func withRenewed(_ body: (ResponseCache, String, _ entry: String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store(self.body, url)
            let entry = try #require(try files(folder).first)
            let before = try data(folder, entry)
            time.advance(by: 3_600)
            try await renew(cache)
            #expect(try files(folder) == [entry, RenewedHeadFile.name(entry)])
            #expect(try data(folder, entry) == before)
            try await body(cache, folder, entry)
        }
    }

    @Test func anotherProcessFindsTheRenewal() async throws {
        try await withRenewed { cache, folder, _ in
            let other = try ResponseCache.test(folder, time)
            #expect(try await head(other)?.receivedAt == time.now)
            #expect(try await other.stored(url) == body)
            other.scan()
            await other.settles()
            #expect(other.byteCount == cache.byteCount && other.byteCount > body.count)
        }
    }

    @Test func aRenewalTakesThePlaceOfAnother() async throws {
        try await withRenewed { cache, folder, _ in
            let count = cache.byteCount
            time.advance(by: 10)
            try await renew(cache)
            #expect(try await head(cache)?.receivedAt == time.now)
            #expect(cache.byteCount == count)
            #expect(try files(folder).count == 2)
        }
    }

    @Test func aDamagedRenewalIsNone() async throws {
        try await withRenewed { cache, folder, entry in
            let path = "\(folder)/\(RenewedHeadFile.name(entry))"
            let whole = try data(folder, RenewedHeadFile.name(entry))
            for index in 0..<whole.count {
                var damaged = whole
                damaged[index] ^= 0x41
                try damaged.write(to: URL(fileURLWithPath: path))
                #expect(try await head(cache)?.receivedAt == time.now - 3_600, "byte \(index)")
                try whole.prefix(index).write(to: URL(fileURLWithPath: path))
                #expect(try await head(cache)?.receivedAt == time.now - 3_600, "cut at \(index)")
            }
            #expect(try await cache.stored(url) == body)
        }
    }

    @Test func aRenewalIsForTheBodyThatItWasMadeFor() async throws {
        try await withRenewed { cache, folder, entry in
            let renewal = try data(folder, RenewedHeadFile.name(entry))
            time.advance(by: 10)
            try await cache.store([1, 2, 3], url)
            #expect(try files(folder) == [entry])
            // Another process has been slower.
            try renewal.write(to: URL(fileURLWithPath: "\(folder)/\(RenewedHeadFile.name(entry))"))
            #expect(try await head(cache)?.receivedAt == time.now)
            #expect(try await cache.stored(url) == [1, 2, 3])
        }
    }

    @Test func aRenewalGoesWithItsEntry() async throws {
        try await withRenewed { cache, folder, _ in
            await cache.remove(url)
            let left = try files(folder)
            #expect(left == [])
            #expect(cache.byteCount == 0)
        }
        try await withRenewed { _, folder, _ in
            await (try ResponseCache.test(folder, time)).removeAll()
            #expect(try files(folder) == [])
        }
        try await withRenewed { cache, folder, entry in
            try FileManager.default.removeItem(atPath: "\(folder)/\(entry)")
            let other = try ResponseCache.test(folder, time)
            other.scan()
            #expect(try files(folder) == [])
        }
    }

    @Test func aRenewalThatMayNotBeStoredEndsTheEntry() async throws {
        for fields: HTTPFields in [[.cacheControl: "no-store"], [.vary: "*"]] {
            try await withRenewed { cache, folder, _ in
                try await renew(cache, fields)
                #expect(try files(folder) == [])
                #expect(cache.byteCount == 0)
            }
        }
    }

    @Test func aRenewalMaySayOtherwiseWhichRequestsItAnswers() async throws {
        try await withRenewed { cache, folder, entry in
            let before = try data(folder, entry)
            try await renew(cache, [.vary: "Accept"])
            let names = try files(folder)
            #expect(names.count == 2 && !names.contains(entry))
            let renamed = try #require(names.first { EntryKind($0) == .whole })
            #expect(try data(folder, renamed) == before)
            #expect(try await cache.stored(url, to: [.accept: "image/png"]) == body)
            #expect(try await cache.stored(url, to: [.accept: "image/gif"]) == nil)
        }
    }
}
