import HTTPTypes
import Testing

@testable import HTTPSemantics

/// The remaining freshness of a response, and the directives for other clients.
@Suite struct FreshnessTests {
    private static let date = 784_111_777

    private func freshness(
        _ control: String, status: HTTPResponse.Status = .ok, _ others: HTTPFields = [:], after seconds: Int = 0,
        isRedirected: Bool = false
    ) -> Freshness {
        var fields = others
        fields[.cacheControl] = control
        return Freshness(
            HTTPResponse(status: status, headerFields: fields), requestedAt: Self.date, receivedAt: Self.date,
            at: Self.date + seconds, isRedirected: isRedirected)
    }

    @Test func remainingTimeCountsTheAgeAndTheTimeSinceTheArrival() {
        let response = freshness("max-age=60", [.age: "10"], after: 20)
        #expect(response.remaining == .seconds(30) && response.isFresh)
        #expect(freshness("max-age=60", [.age: "10"], after: 55).remaining == .seconds(-5))
        #expect(!freshness("max-age=60", after: 60).isFresh)
        // The clock has been set back.
        #expect(freshness("max-age=60", after: -1).remaining == .zero)
    }

    @Test func storabilityAndPrivacyAreThoseOfTheResponse() {
        #expect(freshness("max-age=60").isStorable && !freshness("max-age=60").isPrivate)
        #expect(freshness("private, max-age=60").isPrivate && freshness("private=\"x-a\"").isPrivate)
        #expect(!freshness("no-store").isStorable)
        #expect(!freshness("max-age=60", [.vary: "*"]).isStorable)
        #expect(freshness("max-age=60", status: .notFound).isStorable)
        #expect(!freshness("", status: .notFound).isStorable)
        #expect(!freshness("max-age=60", status: .partialContent).isStorable)
    }

    @Test(
        arguments: [
            ("max-age=60", 20, "max-age=40"),
            ("max-age=60", 61, "max-age=0"),
            ("max-age=60", -1, "max-age=0"),
            ("", 0, "max-age=0"),
            ("no-store, max-age=60", 0, "no-store"),
            ("no-cache, max-age=60, stale-while-revalidate=9", 0, "no-cache"),
            ("private, no-cache", 0, "private, no-cache"),
            ("private, max-age=60, s-maxage=600", 0, "private, max-age=60"),
            ("public, max-age=60, immutable, x=y", 0, "max-age=60"),
            // A shared cache uses the response neither longer than the loader nor than its own limit.
            ("max-age=60, s-maxage=600", 10, "max-age=50, s-maxage=50"),
            ("max-age=60, s-maxage=20", 10, "max-age=50, s-maxage=10"),
            ("max-age=60, s-maxage=0", 0, "max-age=60, s-maxage=0"),
            ("max-age=60, s-maxage=x", 0, "max-age=60, s-maxage=0"),
            ("max-age=60, must-revalidate, stale-while-revalidate=9", 0, "max-age=60, must-revalidate"),
            ("max-age=60, no-transform, proxy-revalidate", 0, "no-transform, max-age=60, proxy-revalidate"),
            ("max-age=60, proxy-revalidate, stale-while-revalidate=9", 0, "max-age=60, proxy-revalidate"),
            (
                "private, max-age=60, proxy-revalidate, stale-while-revalidate=9", 0,
                "private, max-age=60, stale-while-revalidate=9"
            ),
            ("no-cache, no-transform", 0, "no-transform, no-cache"),
            ("max-age=60, stale-while-revalidate=30", 50, "max-age=10, stale-while-revalidate=30"),
            ("max-age=60, stale-while-revalidate=30", 80, "max-age=0, stale-while-revalidate=10"),
            ("max-age=60, stale-while-revalidate=30", 90, "max-age=0"),
            ("max-age=99999999999999999999", 0, "max-age=2147483648"),
            ("max-age=-1", 0, "max-age=0"), ("max-age=\"60", 0, "no-cache"),
        ])
    func cacheControlNeverExceedsTheSource(field: String, after seconds: Int, result: String) {
        #expect(freshness(field, after: seconds).cacheControl() == result)
    }

    @Test func cacheControlIsLimited() {
        let response = freshness("max-age=600, s-maxage=300, stale-while-revalidate=30")
        #expect(
            response.cacheControl(maximum: .seconds(60)) == "max-age=60, s-maxage=60, stale-while-revalidate=30")
        #expect(freshness("max-age=600").cacheControl(maximum: .seconds(-5)) == "max-age=0")
        #expect(freshness("max-age=600").cacheControl(maximum: .seconds(3_600)) == "max-age=600")
    }

    @Test func responseAfterARedirectIsRevalidatedByClients() {
        let response = freshness("max-age=60", isRedirected: true)
        #expect(response.cacheControl() == "no-cache" && response.remaining == .seconds(60))
        #expect(freshness("private, max-age=60", isRedirected: true).cacheControl() == "private, no-cache")
        #expect(freshness("no-store", isRedirected: true).cacheControl() == "no-store")
    }

    @Test func responseCanBeKeptOutOfSharedCaches() {
        let response = freshness("max-age=600, s-maxage=300")
        #expect(response.cacheControl(isPrivate: true) == "private, max-age=600")
        #expect(freshness("no-cache").cacheControl(isPrivate: true) == "private, no-cache")
        #expect(freshness("private, max-age=9").cacheControl(isPrivate: false) == "private, max-age=9")
    }
}
