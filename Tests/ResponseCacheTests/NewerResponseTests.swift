import HTTPTransport
import HTTPTypes
import Hashing
import TestSupport
import Testing

@testable import ResponseCache

/// RFC 9111, section 4: of several suitable responses, the most recent is used, in whatever order they arrive.
@Suite(.timeLimit(.minutes(2)))
struct NewerResponseTests {
    private let url = "http://example.com/a"
    private let time = ManualTime()
    private let varying: HTTPFields = [.cacheControl: "max-age=60", .vary: "Accept"]
    private let png: HTTPFields = [.accept: "image/png"]

    /// Returns a writer for the response to a request that is sent now.
    private func writer(in cache: ResponseCache, _ fields: HTTPFields = [.eTag: "\"a\""]) throws -> EntryWriter {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: png)
        let head = StoredHead(
            HTTPResponse(status: .ok, headerFields: fields), to: request, requestedAt: time.now, receivedAt: time.now)
        return EntryWriter(head, CachedResource(request), cache: cache)
    }

    /// Returns the number of bytes of the stored beginning; `nil` if there is none.
    private func beginning(_ cache: ResponseCache) async throws -> Int? {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: png)
        return await cache.thread.run { cache.find(.part, request, CachedResource(request))?.body.length }
    }

    @Test(arguments: TestStorage.allCases, [0, 1])
    func laterResponseWithVaryReplacesTheOneWithout(storage: TestStorage, seconds: Int) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store([1], url)
            time.advance(by: seconds)
            try await cache.store([2], url, varying, to: png)
            #expect(try await cache.stored(url, to: png) == [2])
            #expect(try await cache.stored(url, to: [.accept: "image/gif"]) == nil)
            #expect(cache.entryCount == 1)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func laterResponseWithoutVaryIsUsedForAllRequests(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store([1], url, varying, to: png)
            time.advance(by: 1)
            try await cache.store([2], url)
            #expect(try await cache.stored(url, to: png) == [2])
            #expect(try await cache.stored(url) == [2])
            #expect(cache.entryCount == 1)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func earlierResponseWithVaryKeepsTheOneWithout(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let slow = try writer(in: cache, varying)
            time.advance(by: 1)
            try await cache.store([1], url)
            await slow.append([2])
            await slow.commit()
            await cache.settles()
            #expect(try await cache.stored(url, to: png) == [1])
            #expect(cache.entryCount == 1)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func earlierResponseWithoutVaryDoesNotHideALaterOneWith(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let slow = try writer(in: cache)
            time.advance(by: 1)
            try await cache.store([2], url, varying, to: png)
            await slow.append([1])
            await slow.commit()
            await cache.settles()
            #expect(try await cache.stored(url, to: png) == [2])
            #expect(try await cache.stored(url, to: [.accept: "image/gif"]) == nil)
            #expect(cache.entryCount == 1)
        }
    }

    @Test func earlierResponseWithoutVaryDoesNotHideALaterOneOfAnotherProcess() async throws {
        try await withTemporaryFolder { folder in
            let (first, second) = (try ResponseCache.test(folder, time), try ResponseCache.test(folder, time))
            let slow = try writer(in: first)
            time.advance(by: 1)
            try await second.store([2], url, varying, to: png)
            await slow.append([1])
            await slow.commit()
            await first.settles()
            for cache in [first, second] { #expect(try await cache.stored(url, to: png) == [2]) }
            #expect(first.entryCount == 1)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func earlierResponseWithoutVaryLeavesAllLaterOnes(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let types = (1...5).map { "image/\($0)" }
            try await cache.store([1], url, varying, to: [.accept: types[0]])
            time.advance(by: 1)
            let slow = try writer(in: cache)
            time.advance(by: 1)
            for (number, type) in types.enumerated().dropFirst() {
                try await cache.store([UInt8(number)], url, varying, to: [.accept: type])
            }
            await slow.append([9])
            await slow.commit()
            await cache.settles()
            for (number, type) in types.enumerated().dropFirst() {
                #expect(try await cache.stored(url, to: [.accept: type]) == [UInt8(number)])
            }
        }
    }

    /// Requested in the same second, the one that is stored last remains.
    @Test(arguments: TestStorage.allCases)
    func responseWithoutVaryReplacesOneOfTheSameSecond(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store([1], url, varying, to: png)
            try await cache.store([2], url)
            #expect(try await cache.stored(url, to: png) == [2])
            #expect(cache.entryCount == 1)
        }
    }

    /// Inserts a response to a request that is sent now, without comparing it with others.
    private func insert(
        _ body: [UInt8], _ fields: HTTPFields, identity: Int, in cache: ResponseCache
    ) throws -> (key: ResponseStorageKey, head: ResponseStorageHead) {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: png)
        let head = StoredHead(
            HTTPResponse(status: .ok, headerFields: fields), to: request, requestedAt: time.now, receivedAt: time.now)
        let facts = BodyFacts(identity: identity, length: body.count, checksum: CRC32C(of: body.span))
        let stored = ResponseStorageHead(head, facts)
        var writer = try cache.storage.writer(headByteCount: head.bytes.count)
        try writer.append(body)
        let key = head.key(CachedResource(request))
        try writer.commit(stored, as: key)
        return (key: key, head: stored)
    }

    /// Two processes insert responses before either of them compares its own with the other.
    @Test(arguments: TestStorage.allCases, [(1, 2, true), (1, 2, false), (2, 1, true), (2, 1, false)])
    func ofResponsesOfTheSameSecondInsertedAtTheSameTimeOneRemains(
        storage: TestStorage, _ order: (plain: Int, varying: Int, isPlainFirst: Bool)
    ) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            var inserted = [
                try insert([1], [.cacheControl: "max-age=60"], identity: order.plain, in: cache),
                try insert([2], varying, identity: order.varying, in: cache),
            ]
            if !order.isPlainFirst { inserted.reverse() }
            for (key, head) in inserted {
                await cache.thread.run { cache.didInsert(key, head, size: 1) }
            }
            await cache.settles()
            let body: [UInt8] = order.plain > order.varying ? [1] : [2]
            #expect(try await cache.stored(url, to: png) == body)
            #expect(cache.entryCount == 1)
        }
    }

    /// It is unknown which one is older.
    @Test(arguments: [true, false])
    func responseThatCannotBeComparedWithTheNewOneIsNotUsed(isNewOneLater: Bool) async throws {
        let storage = DictionaryStorage()
        let cache = ResponseCache(.init(), storage: storage, now: { [time] in time.now })
        let early = try writer(in: cache, varying)
        time.advance(by: 1)
        try await cache.store([1], url)
        time.advance(by: 1)
        let new = try isNewOneLater ? writer(in: cache, varying) : early
        storage.fail(ResponseStorageError.unavailable, in: [.open])
        await new.append([2])
        await new.commit()
        await cache.settles()
        storage.recover()
        #expect(try await cache.stored(url, to: png) == nil)
        #expect(cache.entryCount == 0)
    }

    @Test(arguments: TestStorage.allCases)
    func responseWithVaryFromTheFutureIsReplaced(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store([1], url, varying, to: png)
            time.advance(by: -3_600)
            try await cache.store([2], url)
            #expect(try await cache.stored(url, to: png) == [2])
        }
    }

    @Test(arguments: TestStorage.allCases)
    func laterResponseWithVaryReplacesTheBeginningOfOneWithout(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let interrupted = try writer(in: cache)
            await interrupted.append([UInt8](repeating: 1, count: 20_000))
            await interrupted.keep()
            #expect(try await beginning(cache) == 20_000)
            try await cache.store([2], url, varying, to: png)
            #expect(try await beginning(cache) == nil)
            #expect(cache.entryCount == 1)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func earlierResponseDoesNotReplaceALaterOne(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let slow = try writer(in: cache)
            time.advance(by: 1)
            try await cache.store([2], url)
            await slow.append([1])
            await slow.commit()
            await cache.settles()
            #expect(try await cache.stored(url) == [2])
            if storage == .folder { #expect(try cacheFiles(folder).count == 1) }
        }
    }

    @Test(arguments: TestStorage.allCases)
    func beginningOfAnEarlierResponseDoesNotReplaceThatOfALaterOne(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let slow = try writer(in: cache)
            time.advance(by: 1)
            let later = try writer(in: cache)
            await later.append([UInt8](repeating: 1, count: 20_000))
            await later.keep()
            await slow.append([UInt8](repeating: 1, count: 30_000))
            await slow.keep()
            #expect(try await beginning(cache) == 20_000)
        }
    }

    /// Otherwise nothing could replace a response until its time has come.
    @Test(arguments: TestStorage.allCases)
    func responseFromTheFutureIsReplaced(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store([1], url)
            time.advance(by: -3_600)
            try await cache.store([2], url)
            #expect(try await cache.stored(url) == [2])
        }
    }
}
