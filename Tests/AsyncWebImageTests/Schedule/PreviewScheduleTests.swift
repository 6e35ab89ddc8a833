import Testing

@testable import AsyncWebImage

struct PreviewScheduleTests {
    typealias Decision = PreviewSchedule.Decision
    typealias State = PreviewSchedule.State

    /// Returns a schedule after a first preview of version 1, scan 1, at time zero.
    private func schedule(
        _ policy: PreviewPolicy = PreviewPolicy(), cost: Duration = .zero
    ) -> PreviewSchedule {
        var schedule = PreviewSchedule(policy)
        schedule.shown(State(version: 1, scan: 1), at: .zero, cost: cost)
        return schedule
    }

    @Test(arguments: [
        (State(isWanted: true, version: 1), Decision.show),
        (State(isWanted: false, version: 1), .skip),
        (State(isWanted: true, version: 0), .skip),
    ])
    func firstPreviewIsDueWithFirstRowsAndWaitingConsumer(state: State, decision: Decision) {
        #expect(PreviewSchedule(PreviewPolicy()).decision(state, at: .zero) == decision)
    }

    @Test(arguments: [
        (State(version: 2, scan: 2), 99, Decision.wait(until: .milliseconds(100))),
        (State(version: 2, scan: 2), 100, .show),
        (State(version: 2, scan: 2), 500, .show),
        (State(version: 1, scan: 1), 500, .skip),
        (State(isWanted: false, version: 2, scan: 2), 500, .skip),
    ])
    func nextPreviewIsDueWithNewRowsAfterTheInterval(state: State, milliseconds: Int, decision: Decision) {
        #expect(schedule().decision(state, at: .milliseconds(milliseconds)) == decision)
    }

    @Test(arguments: [
        (PreviewPolicy.Selection.none, 1, false), (.first, 1, true), (.everyScan(3), 1, true), (.all, 1, true),
    ])
    func noneSelectionShowsNoPreviews(selection: PreviewPolicy.Selection, version: Int, isDue: Bool) {
        let schedule = PreviewSchedule(PreviewPolicy(selection: selection))
        #expect((schedule.decision(State(version: version, scan: 1), at: .zero) == .show) == isDue)
    }

    @Test(arguments: [
        (PreviewPolicy.Selection.first, [Int]()), (.everyScan(3), [4, 5]), (.everyScan(1), [2, 3, 4, 5]),
        (.everyScan(0), [2, 3, 4, 5]), (.all, [2, 3, 4, 5]),
    ])
    func everyScanSelectionSkipsScans(selection: PreviewPolicy.Selection, due: [Int]) {
        let schedule = schedule(PreviewPolicy(selection: selection))
        let shown = (2...5).filter { schedule.decision(State(version: $0, scan: $0), at: .seconds(9)) == .show }
        #expect(shown == due)
    }

    @Test func everyScanSelectionShowsRowsOfFilesWithoutScans() {
        var schedule = PreviewSchedule(PreviewPolicy(selection: .everyScan(5)))
        schedule.shown(State(version: 10), at: .zero, cost: .zero)
        #expect(schedule.decision(State(version: 11), at: .seconds(1)) == .show)
    }

    /// The first preview took 10 ms and is free; the next one is expected to cost as much.
    @Test(arguments: [
        (decoding: 49, now: 100, Decision.wait(until: .milliseconds(500))),
        (decoding: 50, now: 100, .show),
        (decoding: 0, now: 499, .wait(until: .milliseconds(500))),
        (decoding: 0, now: 500, .show),
    ])
    func previewCostStaysWithinDecodingOrElapsedShare(decoding: Int, now: Int, decision: Decision) {
        var schedule = schedule(PreviewPolicy(decodingShare: 0.2, elapsedShare: 0.02), cost: .milliseconds(10))
        schedule.decoded(for: .milliseconds(decoding))
        #expect(schedule.decision(State(version: 2), at: .milliseconds(now)) == decision)
    }

    @Test func withoutElapsedShareOnlyDecodingTimeAllowsPreviews() {
        var schedule = schedule(PreviewPolicy(decodingShare: 0.5, elapsedShare: 0), cost: .milliseconds(10))
        schedule.decoded(for: .milliseconds(20))
        schedule.shown(State(version: 2), at: .seconds(1), cost: .milliseconds(10))
        #expect(schedule.decision(State(version: 3), at: .seconds(60)) == .skip)
        schedule.decoded(for: .milliseconds(20))
        #expect(schedule.decision(State(version: 3), at: .seconds(60)) == .show)
    }

    @Test func previewsOfManyScansStayWithinDecodingShare() {
        var schedule = PreviewSchedule(PreviewPolicy(minimumInterval: .zero, decodingShare: 0.2, elapsedShare: 0))
        var shown = 0
        for scan in 1...100 {
            schedule.decoded(for: .milliseconds(10))
            let state = State(version: scan, scan: scan)
            guard schedule.decision(state, at: .milliseconds(scan * 10)) == .show else { continue }
            shown += 1
            schedule.shown(state, at: .milliseconds(scan * 10), cost: .milliseconds(20))
        }
        // Ten previews take a fifth of the decoding time; the first one is free.
        #expect(shown == 11)
    }
}
