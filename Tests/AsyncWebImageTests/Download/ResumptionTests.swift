import HTTPSemantics
import HTTPTransport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// The conditions for continuing a body, and for accepting a response as its continuation.
struct ResumptionTests {
    private func head(
        _ fields: HTTPFields, _ status: Int = 200, _ url: String = "http://example.com/"
    ) throws -> ResponseHead {
        ResponseHead(
            response: HTTPResponse(status: .init(code: status), headerFields: fields), url: try HTTPURL(url))
    }

    private static let old = "Sun, 06 Nov 1994 08:00:00 GMT"
    private static let now = "Sun, 06 Nov 1994 09:00:00 GMT"

    @Test func strongEntityTagAllowsResumption() throws {
        let resumption = try #require(Resumption(try head([.eTag: "\"abc\""]), offset: 100, total: 200))
        var fields: HTTPFields = [:]
        resumption.add(to: &fields)
        #expect(fields[.range] == "bytes=100-")
        #expect(fields[.ifRange] == "\"abc\"")
    }

    @Test func lastModifiedWellBeforeTheResponseAllowsResumption() throws {
        let resumption = try #require(
            Resumption(try head([.lastModified: Self.old, .date: Self.now]), offset: 100, total: nil))
        #expect(resumption.validator == Array(Self.old.utf8))
    }

    @Test(arguments: [("08:59:01", false), ("08:59:00", true), ("08:58:59", true)])
    func lastModifiedAllowsResumptionIfAMinuteOld(time: String, isValidator: Bool) throws {
        let modified = "Sun, 06 Nov 1994 \(time) GMT"
        let head = try head([.lastModified: modified, .date: Self.now])
        #expect(Resumption(head, offset: 100, total: nil)?.validator == (isValidator ? Array(modified.utf8) : nil))
    }

    static let unfit: [HTTPFields] = [
        [:],
        [.eTag: "W/\"abc\""],
        [.eTag: "abc"],
        [.lastModified: now, .date: now],
        [.lastModified: old],
        [.lastModified: "yesterday", .date: now],
        // The weak entity tag implies that the date is not a strong validator.
        [.eTag: "W/\"abc\"", .lastModified: old, .date: now],
        [.eTag: "\"abc\"", .contentEncoding: "gzip"],
        [.eTag: "\"abc\"", .acceptRanges: "none"],
    ]

    @Test(arguments: unfit)
    func responseWithoutStrongValidatorIsNotResumable(_ fields: HTTPFields) throws {
        #expect(Resumption(try head(fields), offset: 100, total: 200) == nil)
    }

    @Test func emptyOrCompleteBodyIsNotResumable() throws {
        let head = try head([.eTag: "\"abc\""])
        #expect(Resumption(head, offset: 0, total: 200) == nil)
        #expect(Resumption(head, offset: 200, total: 200) == nil)
    }

    private func isContinued(_ fields: HTTPFields, total: Int? = 200) throws -> Bool {
        let resumption = try #require(Resumption(try head([.eTag: "\"abc\""]), offset: 100, total: total))
        return resumption.isContinued(by: try head(fields, 206))
    }

    @Test func matching206IsContinuation() throws {
        #expect(try isContinued([.contentRange: "bytes 100-199/200", .eTag: "\"abc\""]))
        #expect(try isContinued([.contentRange: "bytes 100-199/200", .eTag: "\"abc\"", .contentLength: "100"]))
        #expect(try isContinued([.contentRange: "bytes 100-199/200", .eTag: "\"abc\""], total: nil))
        // The server need not say again how long the whole is.
        #expect(try isContinued([.contentRange: "bytes 100-199/*", .eTag: "\"abc\""]))
    }

    /// RFC 9110, section 15.3.7.3.
    @Test func responseWithoutTheValidatorIsNotContinuation() throws {
        #expect(try !isContinued([.contentRange: "bytes 100-199/200"]))
        #expect(try !isContinued([.contentRange: "bytes 100-199/200", .lastModified: Self.old]))
        #expect(try !isContinued([.contentRange: "bytes 100-199/200", .eTag: "W/\"abc\""]))
    }

    @Test func validatorIsSentBackByteForByte() throws {
        let tag: [UInt8] = [0x22, 0xE9, 0x22]
        var fields: HTTPFields = [:]
        fields.set(.eTag, tag)
        let resumption = try #require(Resumption(try head(fields), offset: 100, total: 200))
        var request: HTTPFields = [:]
        resumption.add(to: &request)
        #expect(request.bytes(of: .ifRange) == tag)
        fields[.contentRange] = "bytes 100-199/200"
        #expect(resumption.isContinued(by: try head(fields, 206)))
        fields.set(.eTag, [0x22, 0xE8, 0x22])
        #expect(!resumption.isContinued(by: try head(fields, 206)))
    }

    @Test func range206OfUnknownTotalIsNotContinuation() throws {
        #expect(try !isContinued([.contentRange: "bytes 100-199/*", .eTag: "\"abc\""], total: nil))
    }

    @Test func responseOfAnotherURLIsNotContinuation() throws {
        let fields: HTTPFields = [.contentRange: "bytes 100-199/200", .eTag: "\"abc\""]
        let resumption = try #require(
            Resumption(try head([.eTag: "\"abc\""], 200, "http://example.com/a"), offset: 100, total: 200))
        #expect(resumption.isContinued(by: try head(fields, 206, "http://example.com/a")))
        #expect(!resumption.isContinued(by: try head(fields, 206, "http://example.com/b")))
    }

    @Test func continuationNeedsTheSameLastModified() throws {
        let resumption = try #require(
            Resumption(try head([.lastModified: Self.old, .date: Self.now]), offset: 100, total: 200))
        var fields: HTTPFields = [.contentRange: "bytes 100-199/200", .eTag: "\"abc\""]
        #expect(!resumption.isContinued(by: try head(fields, 206)))
        fields[.lastModified] = Self.old
        #expect(resumption.isContinued(by: try head(fields, 206)))
        fields[.lastModified] = Self.now
        #expect(!resumption.isContinued(by: try head(fields, 206)))
    }

    static let others: [HTTPFields] = [
        [:],
        [.contentRange: "bytes 0-199/200"],
        [.contentRange: "bytes 101-199/200"],
        [.contentRange: "bytes 100-150/200"],
        [.contentRange: "bytes 100-299/300"],
        [.contentRange: "bytes 100-150/*"],
        [.contentRange: "bytes 100-299/*"],
        [.contentRange: "items 100-199/200"],
        [.contentRange: "bytes 100-199/200", .contentEncoding: "gzip"],
        [.contentRange: "bytes 100-199/200", .eTag: "\"new\""],
        [.contentRange: "bytes 100-199/200", .contentLength: "50"],
    ]

    @Test(arguments: others)
    func partialResponseOfAnotherRangeIsNotContinuation(_ others: HTTPFields) throws {
        var fields = others
        if fields[.eTag] == nil { fields[.eTag] = "\"abc\"" }
        #expect(try !isContinued(fields))
    }
}
