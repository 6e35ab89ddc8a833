import HTTPTransport
import Testing

@testable import AsyncWebImage

struct RetryPolicyTests {
    private func status(_ code: Int, _ fields: HTTPFields = [:]) throws -> ImageError {
        let response = HTTPResponse(status: .init(code: code), headerFields: fields)
        return .status(ResponseHead(response: response, url: try HTTPURL("http://example.com/")), text: "")
    }

    private let lost = ImageError.transport(TransportError(url: "http://example.com/", reason: .connectionLost))

    @Test func maximumRetryDelayDoublesWithEachFailureUpToTheLimit() {
        let policy = ExponentialBackoff(maximumAttempts: 100, base: .seconds(1), maximumDelay: .seconds(10))
        let delays = [1, 2, 3, 4, 5, 50].map { policy.delay(after: lost, attempts: $0, random: 1) }
        #expect(delays == [1, 2, 4, 8, 10, 10].map { Duration.seconds($0) })
    }

    @Test func wholeRetryDelayIsRandom() {
        let policy = ExponentialBackoff(base: .seconds(1))
        #expect(policy.delay(after: lost, attempts: 1, random: 0) == .zero)
        #expect(policy.delay(after: lost, attempts: 1, random: 0.25) == .milliseconds(250))
        for _ in 0..<100 {
            let delay = policy.delay(after: lost, attempts: 2) ?? .seconds(100)
            #expect(delay >= .zero && delay <= .seconds(2))
        }
    }

    @Test func noRetryAfterTheMaximumNumberOfAttempts() {
        let policy = ExponentialBackoff(maximumAttempts: 3)
        #expect(policy.delay(after: lost, attempts: 2) != nil)
        #expect(policy.delay(after: lost, attempts: 3) == nil)
    }

    @Test func retryAfterIsObeyedInSeconds() throws {
        let error = try status(503, [.retryAfter: "7"])
        #expect(ExponentialBackoff().delay(after: error, attempts: 1) == .seconds(7))
    }

    @Test func retryAfterIsObeyedAsADateByTheServersClock() throws {
        let error = try status(
            429, [.retryAfter: "Sun, 06 Nov 1994 08:50:07 GMT", .date: "Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(ExponentialBackoff().delay(after: error, attempts: 1) == .seconds(30))
        let past = try status(
            429, [.retryAfter: "Sun, 06 Nov 1994 08:49:07 GMT", .date: "Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(ExponentialBackoff().delay(after: past, attempts: 1, random: 0) == .zero)
    }

    @Test func retryAfterNoTimeStillWaitsForARandomTime() throws {
        let policy = ExponentialBackoff(base: .seconds(4))
        let error = try status(503, [.retryAfter: "0"])
        #expect(policy.delay(after: error, attempts: 1, random: 0.5) == .seconds(2))
        #expect(policy.delay(after: error, attempts: 2, random: 1) == .seconds(8))
        #expect(policy.delay(after: try status(503, [.retryAfter: "3"]), attempts: 1, random: 0.5) == .seconds(3))
    }

    @Test func tooLongRetryAfterFailsImmediately() throws {
        let policy = ExponentialBackoff(maximumRetryAfter: .seconds(10))
        #expect(policy.delay(after: try status(503, [.retryAfter: "11"]), attempts: 1) == nil)
        #expect(policy.delay(after: try status(503, [.retryAfter: "99999999999"]), attempts: 1) == nil)
        #expect(policy.delay(after: try status(503, [.retryAfter: "99999999999999999999"]), attempts: 1) == nil)
    }

    @Test(arguments: ["soon", "-5", "+5", "1.5", ""])
    func invalidRetryAfterIsIgnored(_ text: String) throws {
        let error = try status(503, [.retryAfter: text])
        #expect(ExponentialBackoff().delay(after: error, attempts: 1, random: 1) == .milliseconds(500))
    }

    @Test(arguments: [400, 401, 403, 404, 410, 416, 304, 206])
    func permanentErrorStatusesAreNotRetryable(_ code: Int) throws {
        #expect(try !status(code).isRetryable)
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
    func temporaryErrorStatusesAreRetryable(_ code: Int) throws {
        #expect(try status(code).isRetryable)
    }

    @Test func hookAndCodecErrorsAreNotRetryable() throws {
        let url = "http://example.com/"
        #expect(!ImageError.rejected(by: .requestModifier, url: url, cause: CancellationError()).isRetryable)
        #expect(!ImageError.codec(.truncated(.png), url: url).isRetryable)
        #expect(!ImageError.transport(TransportError(url: url, reason: .bodyTooLarge(limit: 1))).isRetryable)
        #expect(!ImageError.transport(TransportError(url: url, reason: .tlsFailure)).isRetryable)
    }

    @Test(arguments: [Deadlines.Kind.lookup, .connect, .firstByte, .idle])
    func timeoutsExceptTheTotalAreRetryable(_ kind: Deadlines.Kind) {
        let url = "http://example.com/"
        #expect(TransportError(url: url, reason: .timedOut(kind)).isRetryable)
        #expect(!TransportError(url: url, reason: .timedOut(.total)).isRetryable)
    }
}
