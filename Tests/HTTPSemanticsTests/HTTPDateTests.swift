import HTTPSemantics
import Testing

/// RFC 9110, section 5.6.7: one form to write, three to read.
struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func allThreeHTTPDateFormatsAreParsed(_ text: String) {
        #expect(HTTPDate.seconds(text) == 784_111_777)
    }

    @Test(arguments: [
        "SUN, 06 NOV 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt", "sUNDAY, 06-nOV-94 08:49:37 gMT",
        "sun nov  6 08:49:37 1994",
    ])
    func httpDateNamesAreCaseInsensitive(_ text: String) {  // RFC 9111, section 4.2
        #expect(HTTPDate.seconds(text) == 784_111_777)
    }

    @Test(
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
            ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200), ("Wednesday, 31-Dec-69 23:59:59 GMT", 3_155_759_999),
            ("Fri Dec 31 23:59:59 9999", 253_402_300_799), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ] as [(String, Int)])
    func httpDatesAreConvertedToSecondsSince1970(text: String, seconds: Int) {
        #expect(HTTPDate.seconds(text) == seconds)
    }

    /// The invalid dates of the public suite http-tests/cache-tests, and others.
    @Test(
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
            "Sum, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08-49-37 GMT", "Sun, 29 Feb 1995 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37  GMT",
            "Sunday,  06-Nov-94 08:49:37 GMT", "Sun  Nov 6 08:49:37 1994", "Sun Nov  06 08:49:37 1994",
            "Sun Nov   6 08:49:37 1994", "Sun Nov 6  08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 GMT ",
            "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1969 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        ])
    func otherDateFormatsAreRejected(_ text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }

    @Test(arguments: ["", "soon", "120", "1994", "Sun, 99 Nov 1994 08:49:37 GMT", String(repeating: ":", count: 1_000)])
    func invalidHTTPDatesAreRejected(_ text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }
}
