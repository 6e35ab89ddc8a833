/// When previews of an arriving image are decoded.
public struct ProgressivePolicy: Sendable, Hashable {
    /// The shortest time between two previews of one image.
    public var minimumInterval: Duration

    /// At most ten previews a second.
    public init(minimumInterval: Duration = .milliseconds(100)) {
        self.minimumInterval = minimumInterval
    }

    /// Whether a preview is due: somebody waits for one, there is something new to show, and the last is old enough.
    func isDue(
        isWanted: Bool, version: Int, shownVersion: Int, lastShown: ContinuousClock.Instant?,
        now: ContinuousClock.Instant
    ) -> Bool {
        guard isWanted, version > shownVersion else { return false }
        guard let lastShown else { return true }
        return lastShown.duration(to: now) >= minimumInterval
    }
}
