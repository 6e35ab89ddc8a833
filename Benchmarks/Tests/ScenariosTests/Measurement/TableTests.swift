import Testing

@testable import Scenarios

@Suite struct TableTests {
    @Test func tableHasAnAlignedBlockForEachHeading() {
        let rows = [
            TestScenario.row("limit", [.requestsPerSecond: 25_000, .ratioToLimit: 1]),
            TestScenario.row("other", [.requestsPerSecond: 950]),
            TestScenario.row("limit", bodyBytes: 5, [.requestsPerSecond: 1, .ratioToLimit: 1]),
        ]
        #expect(
            Table(rows, columns: TestScenario.columns).lines == [
                "10240 bytes  req/s of limit",
                "  limit     25,000     1.00",
                "  other        950        -",
                "",
                "5 bytes      req/s of limit",
                "  limit          1     1.00",
                "",
            ])
    }

    @Test func failedEngineIsListedWithItsReason() {
        let rows = [
            TestScenario.row("limit", repetitions: 0, failure: "signal 5"),
            TestScenario.row("other", [.requestsPerSecond: 7], repetitions: 4, failure: "signal 11"),
        ]
        #expect(
            Table(rows, columns: TestScenario.columns).lines == [
                "10240 bytes req/s of limit",
                "  limit  failed: signal 5",
                "  other         7        -",
                "    failed at times: signal 11",
                "",
            ])
    }

    @Test func spreadColumnShowsMinimumAndMaximum() {
        let row = Row(
            scenario: "test", subject: TestScenario.Case(engine: "other"),
            summaries: [.peakMemory: Summary([12e6, 11e6, 15.4e6])].compactMapValues { $0 }, repetitions: 3,
            failure: nil)
        #expect(Column.spread("MB", .peakMemory, per: 1e6, decimals: 1).text(of: row) == "11.0-15.4")
        #expect(Column("MB", .peakMemory, per: 1e6).text(of: row) == "12")
    }

    /// The rows contain the widest figures of fast and slow engines, and the longest names.
    @Test func everyTableFitsATerminal() {
        for scenario in Catalog.scenarios {
            for line in lines(of: scenario) { #expect(line.count <= Table.width, "\(line)") }
            let title = "\(scenario.name): \(scenario.summary)"
            #expect(title.count <= Table.width)
        }
    }

    private func lines<S: Scenario>(of scenario: S.Type) -> [String] {
        let rows = S.cases(.full).map { subject in
            let summaries = S.columns.map { ($0.metric, Summary([$0.widestValue * 0.9, $0.widestValue])) }
            return Row(
                scenario: S.name, subject: subject,
                summaries: Dictionary(summaries) { first, _ in first }.compactMapValues { $0 }, repetitions: 5,
                failure: String(repeating: "for a long reason ", count: 10))
        }
        return Table(rows, columns: S.columns).lines
    }
}

extension Column {
    /// The approximate largest value to expect.
    fileprivate var widestValue: Double {
        switch metric {
        case .requestsPerSecond: 39_999
        case .peakMemory: 899e6
        case .ratioToLimit, .firstPreviewShare: 1
        case .cpuRatioToLoop: 99
        case .connections, .resumed: 9_999
        default: 999
        }
    }
}
