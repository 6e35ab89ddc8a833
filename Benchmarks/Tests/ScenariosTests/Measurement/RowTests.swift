import FoundationEssentials
import Testing

@testable import Scenarios

@Suite struct RowTests {
    @Test func aRowIsOneLineWithMediansSpreadsAndTheParametersOfTheCase() throws {
        let row = Row(
            scenario: "test", subject: TestScenario.Case(engine: "other"),
            summaries: [.requestsPerSecond: Summary([100, 300, 200])].compactMapValues { $0 }, repetitions: 3,
            failure: nil)
        let line = try JSON.line(of: row)
        #expect(!line.contains("\n"))
        let members = try members(of: line)
        #expect(members["scenario"] == .text("test"))
        #expect(members["engine"] == .text("other"))
        #expect(members["body_bytes"] == .number(10_240))
        #expect(members["repetitions"] == .number(3))
        #expect(members["requests_per_second"] == .number(200))
        #expect(members["requests_per_second_min"] == .number(100))
        #expect(members["requests_per_second_max"] == .number(300))
    }

    @Test(arguments: [
        "concurrency", "cpu_us_per_request", "p50_ms", "p99_ms", "peak_rss_bytes", "ratio_to_limit", "failure",
    ])
    func inapplicableMeasurementsAreNullInJSON(key: String) throws {
        let members = try members(of: try JSON.line(of: TestScenario.row("other", [.requestsPerSecond: 1])))
        #expect(members[key] == .some(.null))
    }

    @Test func failureIsReportedInJSON() throws {
        let line = try JSON.line(of: TestScenario.row("other", repetitions: 0, failure: "signal 5"))
        #expect(try members(of: line)["failure"] == .text("signal 5"))
    }

    private enum Member: Decodable, Equatable {
        case null
        case number(Double)
        case text(String)

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .null
            } else if let number = try? value.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try value.decode(String.self))
            }
        }
    }

    private func members(of line: String) throws -> [String: Member] {
        try JSON.value([String: Member].self, from: line)
    }
}
