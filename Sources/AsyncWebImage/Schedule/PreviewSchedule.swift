/// The schedule of the previews of one image according to a ``PreviewPolicy``.
///
/// A pure value. Times are relative to the start of the decode.
struct PreviewSchedule {
    /// The available preview, and whether a caller waits for it.
    struct State: Equatable {
        var isWanted = true
        /// A number that increases with the available content; 0 if there is none.
        var version: Int
        /// The scan of a progressive image.
        var scan: Int?
    }

    enum Decision: Equatable {
        case show
        /// Not before this time; then the content available at that time is due, even if no more bytes arrive.
        case wait(until: Duration)
        /// Not before the state changes.
        case skip
    }

    private struct Shown {
        var version: Int
        var scan: Int?
        var time: Duration
        var cost: Duration
    }

    private let policy: PreviewPolicy
    private var last: Shown?
    /// The time spent on the image itself, and on its previews except the first.
    private var decoding = Duration.zero
    private var previewing = Duration.zero

    init(_ policy: PreviewPolicy) {
        self.policy = policy
    }

    /// Records time spent on decoding the image itself.
    mutating func decoded(for duration: Duration) {
        decoding += duration
    }

    /// Records a preview decoded at `time` that took `cost`.
    mutating func shown(_ state: State, at time: Duration, cost: Duration) {
        // The first preview is not counted.
        if last != nil { previewing += cost }
        last = Shown(version: state.version, scan: state.scan, time: time, cost: cost)
    }

    func decision(_ state: State, at now: Duration) -> Decision {
        guard policy.selection != .none, state.isWanted, state.version > 0 else { return .skip }
        guard let last else { return .show }
        guard state.version > last.version, isSelected(state, after: last) else { return .skip }
        // The next preview is estimated to cost as much as the last.
        guard let affordable = time(allowing: previewing + last.cost) else { return .skip }
        let due = max(last.time + policy.minimumInterval, affordable)
        return now >= due ? .show : .wait(until: due)
    }

    private func isSelected(_ state: State, after last: Shown) -> Bool {
        switch policy.selection {
        case .none, .first: false
        case .all: true
        case .everyScan(let step):
            if let scan = state.scan, let lastScan = last.scan { scan - lastScan >= step } else { true }
        }
    }

    /// Returns the time from which previews may take this long in total; `nil` if it depends on further decoding.
    private func time(allowing cost: Duration) -> Duration? {
        if cost <= decoding * policy.decodingShare { return .zero }
        return policy.elapsedShare > 0 ? cost / policy.elapsedShare : nil
    }
}
