import Foundation

/// A test of the public HTTP caching test suite (http-tests/cache-tests), as data.
struct ConformanceTest: Decodable, Sendable {
    enum Kind: String, Decodable, CaseIterable, Sendable {
        /// Behavior that RFC 9111 requires.
        case required
        /// Behavior that makes a cache more useful.
        case optional = "optimal"
        /// A question about behavior that is neither right nor wrong.
        case check
    }

    let id: String
    private let kind: Kind?
    /// The tests without whose success the result means nothing.
    private let depends_on: [String]?
    private let cdn_only: Bool?
    private let browser_skip: Bool?
    let requests: [ConformanceRequest]

    /// The kind; tests that name none are required.
    var purpose: Kind { kind ?? .required }

    var dependencies: [String] { depends_on ?? [] }

    /// A Boolean value that indicates whether the test is for a private cache that answers only GET.
    var applies: Bool {
        cdn_only != true && browser_skip != true && requests.allSatisfy { ($0.request_method ?? "GET") == "GET" }
    }

    /// The body of responses that declare none: 36 bytes, the length of the identifiers that the suite uses, which some
    /// of its tests name in `Content-Length`.
    var body: String { String((id + String(repeating: ".", count: 36)).prefix(36)) }
}

/// A request of a test, its response, and what is expected of both; the names are those of the suite.
struct ConformanceRequest: Decodable, Sendable {
    enum Expectation: String, Decodable, Sendable {
        /// The origin does not see the request.
        case cached
        /// The origin sees it.
        case not_cached
        /// The origin sees a conditional request, and the stored body is used.
        case etag_validated, lm_validated

        var isValidation: Bool { self == .etag_validated || self == .lm_validated }
    }

    // The request.
    let request_method: String?
    let request_headers: [[Value]]?
    let query_arg: String?
    /// The mode of the cache, as for `fetch`.
    let cache: String?
    /// A Boolean value that indicates whether three seconds pass after the response.
    let pause_after: Bool?
    // The response.
    let response_status: [Value]?
    let response_headers: [[Value]]?
    let response_body: String?
    /// The number of seconds before the response.
    let response_pause: Int?
    /// A Boolean value that indicates whether the connection is closed instead.
    let disconnect: Bool?
    // The expectations.
    let setup: Bool?
    let setup_tests: [String]?
    let expected_type: Expectation?
    let expected_status: Int?
    let expected_response_headers: [Field]?
    let expected_response_headers_missing: [Field]?
    let expected_request_headers: [Field]?
    let expected_response_text: String?
    let check_body: Bool?

    /// Returns whether a failure of an expectation means that the test could not be made.
    func isSetup(_ expectation: String) -> Bool { setup == true || setup_tests?.contains(expectation) == true }
}

extension ConformanceRequest {
    /// A text, a number, or a Boolean value.
    enum Value: Decodable, Sendable, Equatable {
        case text(String)
        case number(Int)
        case flag(Bool)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        /// The value of a header field; a number in a field that contains a date is in seconds from `now`.
        func field(_ name: String, now: Int) -> String {
            switch self {
            case .text(let text): text
            case .flag(let flag): "\(flag)"
            case .number(let number): Self.dates.contains(name.lowercased()) ? httpDate(now + number) : "\(number)"
            }
        }

        private static let dates: Set<String> = [
            "date", "expires", "last-modified", "if-modified-since", "if-unmodified-since",
        ]
    }

    /// A name, or an array of a name, an optional comparison, and a value.
    struct Field: Decodable, Sendable {
        let values: [Value]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            values = try (try? container.decode([Value].self)) ?? [container.decode(Value.self)]
        }
    }
}

/// The tests of the suite, in a folder named by the environment variable `WEBIMAGE_CACHE_TESTS`.
enum ConformanceSuite {
    static let folder = ProcessInfo.processInfo.environment["WEBIMAGE_CACHE_TESTS"].map(URL.init(fileURLWithPath:))

    /// Returns the tests that apply to a private cache.
    static func tests() throws -> [ConformanceTest] {
        struct Chapter: Decodable {
            let tests: [ConformanceTest]
        }
        guard let folder else { return [] }
        let data = try Data(contentsOf: folder.appendingPathComponent("tests.json"))
        return try JSONDecoder().decode([Chapter].self, from: data).flatMap(\.tests).filter(\.applies)
    }
}

/// Returns a date in the preferred format of HTTP (RFC 9110, section 5.6.7).
func httpDate(_ seconds: Int) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
    let (day, month) = (days[Int(parts.tm_wday)], months[Int(parts.tm_mon)])
    return "\(day), \(two(parts.tm_mday)) \(month) \(parts.tm_year + 1900) \(clock) GMT"
}
