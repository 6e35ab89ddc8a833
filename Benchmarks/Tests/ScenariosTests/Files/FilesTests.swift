import Testing

@testable import Scenarios

@Suite(.enabled(if: NginxOrigin.executable() != nil)) struct FilesTests {
    private func subject(_ work: Files.Work) -> Files.Case {
        Files.Case(engine: work.rawValue, work: work, requests: 5)
    }

    @Test func everyKindOfWorkIsMeasured() async throws {
        try await withTemporaryFolder { folder in
            let cases = Files.Work.allCases.map(subject)
            try await Files.withSite(for: cases, fixtures: FixtureFolder(path: folder)) { site in
                for subject in cases {
                    let measured = try await Files.measure(subject, at: site)
                    let metric: Metric = subject.work == .firstHit ? .firstHit : .cpuPerRequest
                    #expect(measured[metric] ?? 0 > 0)
                    #expect((measured[.storedPerURL] != nil) == (subject.work == .cachedInfo))
                }
            }
        }
    }

    @Test func additionalCallersAreComparedToOne() {
        var repetition = Repetition<Files.Case>()
        for (work, time) in [(Files.Work.oneCaller, 1_000.0), (.hundredCallers, 1_990), (.info, 100)] {
            repetition[subject(work)] = Measurements()
            repetition[subject(work)]?[.cpuPerRequest] = time
        }
        let hundred = Files.compare(subject(.hundredCallers), in: repetition)
        #expect(hundred[.cpuPerCaller] == 10)
        #expect(hundred[.cpuToBasis] == 1.99)
        #expect(Files.compare(subject(.info), in: repetition)[.cpuToBasis] == nil)
    }
}
