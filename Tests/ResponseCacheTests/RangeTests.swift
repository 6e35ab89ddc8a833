import HTTPTransport
import HTTPTypes
import TestSupport
import Testing

@testable import ResponseCache

/// RFC 9111, sections 3.3 and 3.4: requests for a part are answered from whatever is stored and contains it.
@Suite(.timeLimit(.minutes(5)))
struct RangeTests {
    private let url = "http://example.com/a"
    private let time = ManualTime()
    private let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }

    private func ask(
        _ cache: ResponseCache, _ range: String?, _ origin: TestResponder, _ policy: CachePolicy = .useProtocol
    ) async throws -> (head: ResponseHead, source: ResponseSource, body: [UInt8]) {
        var request = TransportRequest(url: try HTTPURL(url))
        request.headerFields[.range] = range
        let response = try await CachingResponder(cache, policy: policy, before: origin).response(to: request)
        let bytes = try await response.body.bytes()
        await cache.settles()
        return (response.head, response.source, bytes)
    }

    /// An origin that answers ranges `bytes=first-last` and `bytes=first-`.
    private func origin(_ tag: String = "\"a\"", redirectCount: Int = 0) -> TestResponder {
        TestResponder(redirectCount: redirectCount) { [body] request in
            var fields: HTTPFields = [.eTag: tag, .cacheControl: "max-age=60"]
            guard let range = request.headerFields[.range] else { return (.ok, fields, [body]) }
            let ends = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
            let (first, last) = (ends.first ?? 0, ends.dropFirst().first ?? body.count - 1)
            fields[.contentRange] = "bytes \(first)-\(last)/\(body.count)"
            fields[.contentLength] = "\(last - first + 1)"
            return (.partialContent, fields, [Array(body[first...last])])
        }
    }

    @Test(
        arguments: TestStorage.allCases, ["bytes=0-0", "bytes=70000-150000", "bytes=199999-", "bytes=-5", "bytes=0-"])
    func aWholeResponseAnswersEveryRange(storage: TestStorage, range: String) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store(body, url, [.cacheControl: "max-age=60", .contentType: "image/png"])
            let answer = try await ask(cache, range, TestResponder { _ in (.ok, [:], []) })
            let positions: Range<Int> =
                switch range {
                case "bytes=0-0": 0..<1
                case "bytes=70000-150000": 70_000..<150_001
                case "bytes=-5": 199_995..<200_000
                case "bytes=0-": 0..<200_000
                default: 199_999..<200_000
                }
            #expect(answer.source == cache.source && answer.head.status == .partialContent)
            #expect(answer.body == Array(body[positions]) && answer.head.contentLength == positions.count)
            let fields = answer.head.response.headerFields
            #expect(fields[.contentRange] == "bytes \(positions.lowerBound)-\(positions.upperBound - 1)/200000")
            #expect(fields[.contentType] == "image/png" && fields[.age] == "0")
        }
    }

    @Test func staleOrTooShortResponseDoesNotAnswerARange() async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store(Array(body[..<10]), url, [.cacheControl: "max-age=60"])
        let origin = origin()
        #expect(try await ask(cache, "bytes=10-11", origin).source == .network)
        time.advance(by: 61)
        #expect(try await ask(cache, "bytes=0-1", origin).source == .network)
        #expect(origin.requests.map { $0.headerFields[.range] } == ["bytes=10-11", "bytes=0-1"])
    }

    @Test(arguments: TestStorage.allCases) func aPartAnswersTheRangesThatItContains(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let origin = origin()
            #expect(try await ask(cache, "bytes=100-199", origin).body == Array(body[100..<200]))
            for (range, positions) in [("bytes=100-199", 100..<200), ("bytes=120-129", 120..<130)] {
                let answer = try await ask(cache, range, origin)
                #expect(answer.source == cache.source && answer.body == Array(body[positions]))
            }
            #expect(origin.requests.count == 1)
            for range in ["bytes=99-110", "bytes=190-200", "bytes=-5"] {
                #expect(try await ask(cache, range, origin).source == .network)
            }
            // The parts are not the whole.
            #expect(try await ask(cache, nil, origin).body == body)
        }
    }

    @Test func partOfUnexpectedLengthAnswersOnlyTheSameRequest() async throws {
        let cache = try ResponseCache.test(nil, time)
        let origin = TestResponder { _ in
            (.partialContent, [.cacheControl: "max-age=60", .contentRange: "bytes 4-9/10"], [[0, 1, 2, 3, 4]])
        }
        _ = try await ask(cache, "bytes=-5", origin)
        #expect(try await ask(cache, "bytes=-5", origin).body == [0, 1, 2, 3, 4])
        #expect(origin.requests.count == 1)
        #expect(try await ask(cache, "bytes=6-8", origin).source == .network)
    }

    @Test(arguments: TestStorage.allCases) func partsOfOneVersionAreCombined(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let origin = origin()
            _ = try await ask(cache, "bytes=0-99999", origin)
            #expect(try await ask(cache, "bytes=5000-5009", origin).body == Array(body[5_000..<5_010]))
            let rest = try await ask(cache, "bytes=100000-", origin)
            #expect(rest.head.status == .partialContent && rest.body == Array(body[100_000...]))
            #expect(origin.requests.count == 2)
            let whole = try await ask(cache, nil, origin)
            #expect(whole.head.status == .ok && whole.body == body && whole.source == cache.source)
            #expect(origin.requests.count == 2)
        }
    }

    @Test func requestedFirstPartIsCompletedByTheNextRequest() async throws {
        let cache = try ResponseCache.test(nil, time)
        let origin = origin()
        _ = try await ask(cache, "bytes=0-99999", origin)
        #expect(try await ask(cache, nil, origin).body == body)
        #expect(origin.requests.map { $0.headerFields[.range] } == ["bytes=0-99999", "bytes=100000-"])
        #expect(origin.requests.last?.headerFields[.ifRange] == "\"a\"")
    }

    @Test func redirected206IsNotCombinedWithTheStoredPart() async throws {
        let cache = try ResponseCache.test(nil, time)
        _ = try await ask(cache, "bytes=0-99999", origin())
        let origin = origin(redirectCount: 1)
        let answer = try await ask(cache, nil, origin)
        #expect(answer.head.status == .ok && answer.body == body)
        #expect(origin.requests.map { $0.headerFields[.range] } == ["bytes=100000-", nil])
    }

    @Test func partsOfDifferentVersionsAreNotCombined() async throws {
        let cache = try ResponseCache.test(nil, time)
        _ = try await ask(cache, "bytes=0-99999", origin())
        _ = try await ask(cache, "bytes=100000-", origin("\"b\""))
        let origin = origin("\"c\"")
        #expect(try await ask(cache, nil, origin).source == .network)
        #expect(origin.requests.map { $0.headerFields[.range] } == [nil])
    }

    @Test func partsOlderThanTheWholeResponseAreNotUsed() async throws {
        let cache = try ResponseCache.test(nil, time)
        let origin = origin()
        _ = try await ask(cache, "bytes=100-199", origin)
        time.advance(by: 1)
        try await cache.store([1, 2, 3], url, [.cacheControl: "max-age=0"])
        #expect(try await ask(cache, "bytes=100-199", origin).source == .network)
    }

    @Test(arguments: TestStorage.allCases)
    func partNewerThanTheWholeResponseIsUsed(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store([UInt8](repeating: 1, count: 200_000), url, [.cacheControl: "max-age=600"])
            time.advance(by: 1)
            let origin = origin()
            #expect(try await ask(cache, "bytes=100-199", origin, .reload).source == .network)
            for (range, positions) in [("bytes=100-199", 100..<200), ("bytes=120-129", 120..<130)] {
                let answer = try await ask(cache, range, origin)
                #expect(answer.source == cache.source && answer.body == Array(body[positions]))
            }
            #expect(origin.requests.count == 1)
            // The whole response is still fresh.
            #expect(try await ask(cache, "bytes=0-1", origin).body == [1, 1])
        }
    }

    @Test func theMostRecentOfSeveralPartsIsUsed() async throws {
        let cache = try ResponseCache.test(nil, time)
        func origin(_ byte: UInt8, date: String) -> TestResponder {
            TestResponder { request in
                let range = request.headerFields[.range] == "bytes=100-199" ? 100...199 : 150...249
                let fields: HTTPFields = [
                    .cacheControl: "max-age=600", .date: date,
                    .contentRange: "bytes \(range.lowerBound)-\(range.upperBound)/200000",
                ]
                return (.partialContent, fields, [[UInt8](repeating: byte, count: range.count)])
            }
        }
        // The one that is stored last is older.
        _ = try await ask(cache, "bytes=100-199", origin(1, date: "Sun, 09 Sep 2001 01:46:30 GMT"))
        _ = try await ask(cache, "bytes=150-249", origin(2, date: "Sun, 09 Sep 2001 01:46:20 GMT"), .reload)
        let answer = try await ask(cache, "bytes=160-169", origin(3, date: ""))
        #expect(answer.source == cache.source && answer.body == [UInt8](repeating: 1, count: 10))
    }

    @Test func theNumberOfPartsIsLimited() async throws {
        let cache = try ResponseCache.test(nil, time)
        let origin = origin()
        for first in 0..<100 { _ = try await ask(cache, "bytes=\(first * 10)-\(first * 10 + 9)", origin) }
        #expect(cache.byteCount < 16 * 500)
    }

    @Test(arguments: TestStorage.allCases)
    func partsAndResponsesThatVaryHaveLimitsOfTheirOwn(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let types = (0..<ResponseCache.maximumVariants).map { "image/\($0)" }
            for type in types {
                try await cache.store(
                    [1], url, [.cacheControl: "max-age=60", .vary: "Accept"], to: [.accept: type])
            }
            let origin = origin()
            let ranges = (1...ResponseCache.maximumRanges).map { "bytes=\($0 * 10)-\($0 * 10 + 9)" }
            for range in ranges + ranges { _ = try await ask(cache, range, origin) }
            #expect(origin.requests.count == ranges.count)
            // Another variant replaces the oldest one, and no parts.
            try await cache.store(
                [1], url, [.cacheControl: "max-age=60", .vary: "Accept"], to: [.accept: "image/new"])
            for (number, type) in types.enumerated() {
                let isStored = try await cache.stored(url, to: [.accept: type]) != nil
                #expect(isStored == (number > 0), "\(type)")
            }
            for range in ranges { #expect(try await ask(cache, range, origin).source == cache.source) }
        }
    }

    @Test(arguments: TestStorage.allCases)
    func aPartThatIsReplacedNeedsNoRoom(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let origin = origin()
            let ranges = (1...ResponseCache.maximumRanges).map { "bytes=\($0 * 10)-\($0 * 10 + 9)" }
            for range in ranges + ranges.prefix(1) { _ = try await ask(cache, range, origin, .reload) }
            #expect(origin.requests.count == ranges.count + 1)
            for range in ranges { #expect(try await ask(cache, range, origin).source == cache.source) }
        }
    }

    @Test func damagedBytesOfARangeAreNotDelivered() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            let long = [UInt8](repeating: 1, count: StoredBody.maximumShortLength + 1)
            try await cache.store(long, url)
            let file = try OpenFile(updating: "\(folder)/\(try #require(try cacheFiles(folder).first))")
            try file.write([2], at: EntryFile.usualRegionLength + 10)
            await #expect(throws: StoredBodyError.damaged) {
                try await ask(cache, "bytes=150000-150001", TestResponder { _ in (.ok, [:], []) }).body
            }
        }
    }
}
