import Threading

/// The place of a source among ``ConversionPlaces``, which it has while its image is transferred or processed.
final class SourcePlace: Sendable {
    private enum Claim {
        case none
        /// The place that was taken when the URL was requested.
        case ofURL
        /// A place of its own, because the URL is invalid, or another source has taken the place of the same URL.
        case own
    }

    private struct State {
        /// The value for ``ConversionPlaces/end(_:line:isClaimant:)``.
        var key: String?
        var claim = Claim.none
    }

    private let url: String?
    private let places: ConversionPlaces
    private let state: Locked<State>

    /// Creates the place of a source, which does not have it yet.
    init(for source: ImageSource, in places: ConversionPlaces) {
        self.places = places
        url = if case .url(let url) = source.place { url } else { nil }
        state = Locked(State(key: url.flatMap { places.begin($0) }))
    }

    deinit { end() }

    /// A Boolean value that indicates whether the source has its place.
    var isHeld: Bool {
        let (key, claim) = state.withLock { ($0.key, $0.claim) }
        return claim == .own || key.map { places.isHeld($0) } ?? false
    }

    /// Waits for the place, before the image is processed, and keeps it even while the download waits for a retry.
    ///
    /// Does nothing if the source has its place. Throws an error if the task is canceled.
    func claim() async throws {
        let (key, claim) = state.withLock { ($0.key, $0.claim) }
        if claim == .none {
            if let key, await places.claim(key) {
                // The retry would otherwise wait for places of images that wait for memory which this one holds.
                await places.keep(key)
                state.withLock { $0.claim = .ofURL }
            } else {
                await places.reserve()
                state.withLock { $0.claim = .own }
            }
        }
        try Task.checkCancellation()
    }

    /// Gives up the place until the next request of the source.
    func restart() {
        guard state.withLock({ $0.claim }) != .none else { return }
        end()
        let key = url.flatMap { places.begin($0) }
        state.withLock { $0.key = key }
    }

    /// Gives up the place.
    func end() {
        let (key, claim) = state.withLock { state in
            defer { state = State() }
            return (state.key, state.claim)
        }
        if claim == .own { places.release() }
        if let key { places.end(key, isClaimant: claim == .ofURL) }
    }
}
