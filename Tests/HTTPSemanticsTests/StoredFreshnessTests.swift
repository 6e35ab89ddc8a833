import HTTPTypes
import Testing

@testable import HTTPSemantics

/// RFC 9111, section 4.2.
@Suite struct StoredFreshnessTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let date = 784_111_777

    private func freshness(_ fields: HTTPFields, delay: Int = 0, receivedAt: Int = date) -> StoredFreshness {
        var fields = fields
        if fields[.date] == nil { fields[.date] = "Sun, 06 Nov 1994 08:49:37 GMT" }
        return StoredFreshness(
            HTTPResponse(status: .ok, headerFields: fields), requestedAt: receivedAt - delay, receivedAt: receivedAt)
    }

    @Test(
        arguments: [
            ([.cacheControl: "max-age=60"], 60),  // 5.2.2.1
            ([.cacheControl: "max-age=60", .expires: "Sun, 06 Nov 1994 09:49:37 GMT"], 60),  // 5.3: max-age goes first
            ([.cacheControl: "s-maxage=60", .expires: "Sun, 06 Nov 1994 09:49:37 GMT"], 3_600),  // 5.2.2.10
            ([.expires: "Sun, 06 Nov 1994 08:49:37 GMT"], 0),
            ([.expires: "Sat, 05 Nov 1994 08:49:37 GMT"], 0),
            ([.expires: "0"], 0), ([.expires: "-1"], 0), ([.expires: ""], 0),  // 5.3: no date is the past
            ([.expires: "0", .lastModified: "Sun, 06 Nov 1994 06:49:37 GMT"], 0),
            ([.lastModified: "Sun, 06 Nov 1994 06:49:37 GMT"], 720),  // 4.2.2: a tenth of two hours
            ([.lastModified: "Sun, 06 Nov 1988 06:49:37 GMT"], 86_400),  // a day at most
            ([.lastModified: "Mon, 07 Nov 1994 06:49:37 GMT"], 0),  // from the future
            ([.lastModified: "yesterday"], 0),
            ([:], 0),
        ] as [(HTTPFields, Int)])
    func freshnessLifetimeIsCalculated(fields: HTTPFields, seconds: Int) {
        #expect(freshness(fields).lifetime == seconds)
    }

    @Test func conflictingExpiresFieldsMakeAResponseStale() {
        var fields: HTTPFields = [.expires: "Sun, 06 Nov 1994 09:49:37 GMT"]
        fields.append(HTTPField(name: .expires, value: "Sun, 06 Nov 1994 10:49:37 GMT"))
        #expect(freshness(fields).lifetime == 0)
    }

    @Test(
        arguments: [
            ([:], 0, 0, 0),
            ([.age: "30"], 0, 0, 30),
            ([.age: "30"], 5, 0, 35),  // 4.2.3: the response delay counts
            ([.age: "30"], 5, 100, 100),  // older according to its date
            ([:], 5, -100, 5),  // the origin's clock is fast
            ([.age: "x"], 0, 0, 0), ([.age: "-3"], 0, 0, 0),
            ([.age: "30, 0"], 0, 0, 30), ([.age: " 0 ,30"], 0, 0, 0), ([.age: "30;a=b"], 0, 0, 0),  // 5.1
        ] as [(HTTPFields, Int, Int, Int)])
    func ageOfResponseIsCalculated(fields: HTTPFields, delay: Int, sinceDate: Int, age: Int) {
        let response = freshness(fields, delay: delay, receivedAt: Self.date + sinceDate)
        #expect(response.initialAge == age)
        #expect(response.age(at: response.receivedAt + 7) == age + 7)
        #expect(response.age(at: response.receivedAt - 1_000) == age)  // the clock was set back
    }

    /// Its age is unknown.
    @Test func responseReceivedInTheFutureIsStale() {
        let response = freshness([.cacheControl: "max-age=60, immutable, stale-while-revalidate=60, stale-if-error=60"])
        let earlier = response.receivedAt - 1
        #expect(response.isFresh(at: response.receivedAt) && response.remaining(at: response.receivedAt) == 60)
        #expect(!response.isFresh(at: earlier) && !response.isImmutable(at: earlier))
        #expect(response.remaining(at: earlier) == 0 && !response.mayBeUsedWhileRevalidating(at: earlier))
        // Better than an error.
        #expect(response.mayStandIn(at: earlier))
    }

    @Test func ageOfResponseWithoutDateStartsAtItsArrival() {
        let response = StoredFreshness(
            HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]), requestedAt: 10, receivedAt: 10)
        #expect(response.isFresh(at: 69) && !response.isFresh(at: 70))
    }

    @Test func responseIsFreshUntilItsLifetimeEnds() {
        let response = freshness([.cacheControl: "max-age=60", .age: "10"])
        #expect(response.isFresh(at: Self.date + 49))
        #expect(!response.isFresh(at: Self.date + 50))
        #expect(!response.isFresh(at: Self.date + 20, maxAge: 29))  // 5.2.1.1
        #expect(response.isFresh(at: Self.date + 20, maxAge: 30))
        #expect(!freshness([.cacheControl: "max-age=60, no-cache"]).isFresh(at: Self.date))  // 5.2.2.4
    }

    @Test(
        arguments: [
            ("max-age=60, stale-if-error=30", 90, true),  // RFC 5861, section 4
            ("max-age=60, stale-if-error=30", 91, false),
            ("max-age=60", 61, false),
            ("max-age=60, stale-if-error=30, must-revalidate", 61, false),  // 5.2.2.2
            ("max-age=60, stale-if-error=30, no-cache", 61, false),
        ])
    func staleResponseMayReplaceAnErrorWithinStaleIfError(field: String, age: Int, mayStandIn: Bool) {
        #expect(freshness([.cacheControl: field]).mayStandIn(at: Self.date + age) == mayStandIn)
    }

    @Test(
        arguments: [
            ("max-age=60, stale-while-revalidate=30", 90, true),  // RFC 5861, section 3
            ("max-age=60, stale-while-revalidate=30", 91, false),
            ("max-age=60", 61, false),
            ("max-age=60, stale-while-revalidate=30, must-revalidate", 61, false),  // 5.2.2.2
            ("max-age=60, stale-while-revalidate=30, no-cache", 61, false),
        ])
    func staleResponseMayBeUsedWithinStaleWhileRevalidate(field: String, age: Int, mayBeUsed: Bool) {
        #expect(freshness([.cacheControl: field]).mayBeUsedWhileRevalidating(at: Self.date + age) == mayBeUsed)
    }

    @Test func immutableAppliesWhileTheResponseIsFresh() {  // RFC 8246, section 2
        #expect(freshness([.cacheControl: "max-age=60, immutable"]).isImmutable(at: Self.date + 59))
        #expect(!freshness([.cacheControl: "max-age=60, immutable"]).isImmutable(at: Self.date + 60))
        #expect(!freshness([.cacheControl: "max-age=60"]).isImmutable(at: Self.date))
    }

    @Test func extremeCacheFieldValuesDoNotTrap() {
        let response = freshness(
            [
                .cacheControl: "max-age=99999999999999999999", .age: "99999999999999999999",
                .expires: "Fri, 31 Dec 9999 23:59:59 GMT",
            ], delay: 1 << 31, receivedAt: 1 << 40)
        #expect(response.age(at: 1 << 41) > 1 << 40)
    }
}
