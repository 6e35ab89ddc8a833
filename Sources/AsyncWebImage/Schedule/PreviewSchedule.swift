/// When the next preview of one image is to be decoded: what a ``ProgressivePolicy`` comes to as the image arrives.
///
/// A pure value. Times are counted from the beginning of the decode.
struct PreviewSchedule {
    /// What can be shown, and whether anybody would look.
    struct State: Equatable {
        var isWanted = true
        /// Grows with what there is to show; 0 if there is nothing.
        var version: Int
        /// Of a progressive image.
        var scan: Int?
    }

    enum Decision: Equatable {
        case show
        /// Not before this time; then what there is then is due, even if no more bytes have come.
        case wait(until: Duration)
        /// Not before something changes.
        case skip
    }

    private struct Shown {
        var version: Int
        var scan: Int?
        var time: Duration
        var cost: Duration
    }

    private let policy: ProgressivePolicy
    private var last: Shown?
    /// Spent on the image itself, and on its previews but the first.
    private var decoding = Duration.zero
    private var previewing = Duration.zero

    init(_ policy: ProgressivePolicy) {
        self.policy = policy
    }

    /// So much time went into the image itself.
    mutating func decoded(for duration: Duration) {
        decoding += duration
    }

    /// A preview was decoded at `time`, and took `cost`.
    mutating func shown(_ state: State, at time: Duration, cost: Duration) {
        // The first one is what previews are for, so it is free.
        if last != nil { previewing += cost }
        last = Shown(version: state.version, scan: state.scan, time: time, cost: cost)
    }

    func decision(_ state: State, at now: Duration) -> Decision {
        guard policy.selection != .none, state.isWanted, state.version > 0 else { return .skip }
        guard let last else { return .show }
        guard state.version > last.version, isSelected(state, after: last) else { return .skip }
        // The next one will cost about what the last one did.
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

    /// From when on previews may take so long in all; nil if only more decoding can tell.
    private func time(allowing cost: Duration) -> Duration? {
        if cost <= decoding * policy.decodingShare { return .zero }
        return policy.elapsedShare > 0 ? cost / policy.elapsedShare : nil
    }
}
