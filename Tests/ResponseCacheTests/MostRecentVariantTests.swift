import HTTPTransport
import HTTPTypes
import TestSupport
import Testing

@testable import ResponseCache

/// RFC 9111, section 4: responses that differ by different fields can match one request; the most recent is used.
@Suite(.timeLimit(.minutes(2)))
struct MostRecentVariantTests {
    private let url = "http://example.com/a"
    /// Begins at 01:46:40 on September 9, 2001.
    private let time = ManualTime()
    /// The fields of requests of which each matches one of the responses.
    private let first: HTTPFields = [.accept: "image/png", .acceptLanguage: "de"]
    private let second: HTTPFields = [.accept: "image/gif", .acceptLanguage: "fr"]
    /// The fields of a request that matches both responses.
    private let both: HTTPFields = [.accept: "image/png", .acceptLanguage: "fr"]

    /// Returns the fields of a response that differs by `vary`, and was sent in this second.
    private func fields(_ vary: String, _ second: String?) -> HTTPFields {
        var fields: HTTPFields = [.cacheControl: "max-age=600", .vary: vary]
        fields[.date] = second.map { $0.count > 2 ? $0 : "Sun, 09 Sep 2001 01:46:\($0) GMT" }
        return fields
    }

    @Test(
        arguments: TestStorage.allCases,
        [
            ("30", "20", 1), ("20", "30", 2),
            // Without a date, the time of arrival counts.
            (nil, "30", 1), ("30", nil, 2), ("not a date", "30", 1),
            // A date after the arrival is wrong.
            ("59", "40", 2), ("40", "59", 2),
            // The one that was stored last.
            ("30", "30", 2), (nil, nil, 2), ("40", nil, 2),
        ] as [(String?, String?, UInt8)])
    func responseWithTheLatestDateIsUsed(
        storage: TestStorage, _ expected: (first: String?, second: String?, body: UInt8)
    ) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store([1], url, fields("Accept", expected.first), to: first)
            try await cache.store([2], url, fields("Accept-Language", expected.second), to: second)
            #expect(try await cache.stored(url, to: both) == [expected.body])
            #expect(try await cache.stored(url, to: first) == [1])
            #expect(try await cache.stored(url, to: second) == [2])
            #expect(cache.entryCount == 2)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func ofResponsesWithTheSameDateTheOneRequestedLaterIsUsed(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let request = TransportRequest(url: try HTTPURL(url), headerFields: first)
            let head = StoredHead(
                HTTPResponse(status: .ok, headerFields: fields("Accept", "30")), to: request, requestedAt: time.now,
                receivedAt: time.now)
            let slow = EntryWriter(head, CachedResource(request), cache: cache)
            time.advance(by: 1)
            try await cache.store([2], url, fields("Accept-Language", "30"), to: second)
            await slow.append([1])
            await slow.commit()
            await cache.settles()
            #expect(try await cache.stored(url, to: first) == [1])
            #expect(try await cache.stored(url, to: both) == [2])
        }
    }

    @Test(arguments: TestStorage.allCases)
    func validatedResponseIsTheMostRecent(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store([1], url, fields("Accept", "20"), to: first)
            try await cache.store([2], url, fields("Accept-Language", "30"), to: second)
            #expect(try await cache.stored(url, to: both) == [2])
            time.advance(by: 10)
            let request = TransportRequest(url: try HTTPURL(url), headerFields: first)
            await cache.thread.run { [time] in
                guard let stored = cache.find(.whole, request, CachedResource(request)) else { return }
                let head = stored.head.updated(
                    by: HTTPResponse(status: .notModified), to: request, requestedAt: time.now, receivedAt: time.now)
                _ = cache.update(stored, to: head, CachedResource(request))
            }
            #expect(try await cache.stored(url, to: both) == [1])
        }
    }

    /// The clock has been set back, so the time at which it was received is unknown.
    @Test(arguments: TestStorage.allCases)
    func responseFromTheFutureIsNotTheMostRecent(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store([2], url, fields("Accept-Language", nil), to: second)
            time.advance(by: -3_600)
            try await cache.store([1], url, fields("Accept", nil), to: first)
            #expect(try await cache.stored(url, to: both) == [1])
        }
    }

    @Test(arguments: TestStorage.allCases)
    func mostRecentOfAllResponsesOfAURLIsUsed(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let count = ResponseCache.maximumVariants
            let names = try (0..<count).map { try #require(HTTPField.Name("Field-\($0)")) }
            // Each matches any value of the fields that it does not name.
            for (number, name) in names.enumerated() {
                let second = number == count / 2 ? "39" : "\(10 + number)"
                try await cache.store([UInt8(number)], url, fields(name.rawName, second), to: [name: "1"])
            }
            var all = HTTPFields()
            for name in names { all[name] = "1" }
            #expect(try await cache.stored(url, to: all) == [UInt8(count / 2)])
            #expect(cache.entryCount == count)
        }
    }
}
