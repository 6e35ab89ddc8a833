import HTTPTypes
import TestSupport
import Testing

@testable import HTTPSemantics

/// RFC 9111, section 5.2, and the quoting of RFC 9110, section 5.6.
@Suite struct CacheControlTests {
    private func control(_ lines: String..., isRequest: Bool = false) -> CacheControl {
        var fields = HTTPFields()
        for line in lines { fields.append(HTTPField(name: .cacheControl, value: line)) }
        return CacheControl(fields, isRequest: isRequest)
    }

    @Test(
        arguments: [
            ("max-age=60", 60),
            ("MAX-AGE = 60 , public", 60),  // 5.2: names are case-insensitive
            (#"max-age="60""#, 60),  // 5.2: both forms must be accepted
            (#"max-age="6\0""#, 60),  // RFC 9110, 5.6.4: escaped characters
            ("max-age=99999999999999999999999999", 1 << 31),  // 1.2.2
            ("max-age=60, max-age=5", 5),  // 4.2.1
            ("max-age", 0), ("max-age=", 0), ("max-age=-1", 0), ("max-age=1.5", 0), ("max-age=x", 0),  // 4.2.1: stale
            ("s-maxage=60", nil),  // 5.2.2.10: for shared caches
            (#"extension="a, max-age=1", max-age=60"#, 60),  // a comma in quotes
            ("", nil), (",,, ,", nil), ("=5", nil), ("public", nil),
            (",max-age=60,", 60), ("public max-age=60", 60), (#"a="1" max-age=60"#, 60),
        ] as [(String, Int?)])
    func maxAgeDirectiveIsParsed(field: String, seconds: Int?) {
        #expect(control(field).maxAge == seconds)
    }

    @Test func cacheControlDirectivesOfSeveralLinesAreCombined() {
        let both = control("max-age=60, must-revalidate", "no-store, stale-if-error=30")
        #expect(both.maxAge == 60 && both.mustRevalidate && both.noStore && both.staleIfError == 30)
        #expect(!both.noCache && !both.mustUnderstand)
    }

    @Test func cacheControlDirectivesWithoutAValueAreRecognized() {
        let control = control("PUBLIC, Immutable, must-understand, stale-while-revalidate=30")
        #expect(control.isPublic && control.isImmutable && control.mustUnderstand)
        #expect(control.staleWhileRevalidate == 30)
        #expect(self.control("stale-while-revalidate=x").staleWhileRevalidate == 0)
    }

    @Test(arguments: ["no-cache", "No-Cache", #"no-cache="Set-Cookie""#, "max-age=60,no-cache"])
    func noCacheWithFieldNamesAppliesToTheWholeResponse(field: String) {  // 5.2.2.4
        #expect(control(field).noCache)
    }

    @Test(arguments: [#"max-age="60"#, #"a="b, max-age=60"#, #"max-age=60, b=c"d, no-store"#, #"a="\"#, #"""#])
    func unterminatedQuotesInCacheControlRequireRevalidation(field: String) {
        #expect(control(field).noCache)
    }

    @Test(arguments: ["max-age=60 no-store", "public\tno-store, max-age=60", #"max-age="60"no-store"#])
    func cacheControlDirectiveWithoutACommaApplies(field: String) {
        #expect(control(field).noStore && control(field).maxAge == 60)
    }

    @Test func quotedTextIsNotACacheControlDirective() {
        let quoted = control(#"a="no-store, no-cache", b="\", no-store""#)
        #expect(!quoted.noStore && !quoted.noCache)
    }

    @Test func pragmaAppliesToRequestsWithoutCacheControl() throws {  // 5.4
        let pragma = try #require(HTTPField.Name("Pragma"))
        #expect(CacheControl([pragma: "No-Cache"], isRequest: true).noCache)
        #expect(!CacheControl([pragma: "no-cache"]).noCache)
        #expect(!CacheControl([pragma: "no-cache", .cacheControl: "max-age=5"], isRequest: true).noCache)
    }

    @Test func randomCacheControlInventsNoDirectives() {
        var random = SplitMix(seed: 9_111)
        let alphabet = Array(#"max-age=,"\ 09no-store;"# + "\t\u{00}é")
        for _ in 0..<2_000 {
            let text = String(
                (0..<Int.random(in: 0...24, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "a" })
            let control = control(text)
            #expect(control.maxAge.map { (0...1 << 31).contains($0) } ?? true, "\(text)")
            // Neither is derived from other directives.
            #expect(control.maxAge == nil || text.contains("max-age"), "\(text)")
            #expect(!control.noStore || text.contains("no-store"), "\(text)")
            #expect(control.staleIfError == nil && !control.mustRevalidate && !control.mustUnderstand, "\(text)")
        }
    }
}
