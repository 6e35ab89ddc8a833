import AsyncWebImage
import Threading

/// The lines whose images are downloaded, converted, or verified at a time: a request is sent only if there is a place
/// for its image, so that bodies do not arrive faster than they can be processed.
///
/// A line that waits for its first request, or for a retry before the body has begun, has no place. Lines with one URL
/// share a place, unless they claim places of their own. If lines are delivered in order, later ones can hold all
/// places until the next one has been delivered, so that one gets a place in any case.
final class ConversionPlaces: RequestModifier {
    private struct Entry {
        var lines = 0
        var hasPlace = false
        /// A Boolean value that indicates whether the place is kept while the download waits for a retry.
        var isKept = false
        /// A Boolean value that indicates whether the place belongs to one of the lines.
        var isClaimed = false
        /// The number of the last attempt.
        var attempts = 0
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The URLs of lines by their numbers, if lines are delivered in order.
        var urls: [Int: String] = [:]
        /// The number of the next line to deliver; `nil` if lines are delivered in any order.
        var next: Int?
    }

    private let places: Allowance<String>
    /// The number of transfers at a time.
    private let transferLimit: Int
    /// The downloads that are being transferred, by their numbers.
    private let transfers = Locked(Set<UInt64>())
    private let state: Locked<State>
    private let observer = Locked(Observer())

    private struct Observer {
        var whenFree: (@Sendable () -> Void)?
    }

    /// Creates places for `limit` images, of which `transfers` are downloaded at a time.
    init(limit: Int, transfers: Int = .max, isOrdered: Bool = false) {
        places = Allowance(limit: limit)
        transferLimit = transfers
        state = Locked(State(next: isOrdered ? 0 : nil))
    }

    /// A Boolean value that indicates whether a request could be sent.
    var areFree: Bool { !places.isExhausted && transfers.withLock { $0.count } < transferLimit }

    /// Sets a closure that is called when a place has become free.
    func whenFree(_ call: @escaping @Sendable () -> Void) { observer.withLock { $0.whenFree = call } }

    /// Releases a place that belongs to no URL.
    func release() {
        places.release(1)
        reportFree()
    }

    private func reportFree() { observer.withLock { $0.whenFree }?() }

    /// Adds a line that will request a URL, by its number if lines are delivered in order; returns a value for
    /// ``end(_:line:isClaimant:)``.
    func begin(_ url: String, line: Int? = nil) -> String? {
        guard let key = try? HTTPURL(url).string else { return nil }
        state.withLock { state in
            state.entries[key, default: Entry()].lines += 1
            guard let next = state.next, let line else { return }
            state.urls[line] = key
            if line == next { places.setNext(key) }
        }
        return key
    }

    /// Notes that all lines before `next` are delivered.
    func deliver(before next: Int) {
        state.withLock { state in
            state.next = next
            places.setNext(state.urls[next])
        }
    }

    /// Removes a line that has been answered; returns the number of attempts to get its image.
    ///
    /// `isClaimant` indicates whether the place of the URL belongs to the line.
    @discardableResult func end(_ key: String, line: Int? = nil, isClaimant: Bool = false) -> Int {
        let (attempts, hadPlace) = state.withLock { state in
            if let line { state.urls[line] = nil }
            guard var entry = state.entries[key] else { return (0, false) }
            entry.lines -= 1
            let isReleased = entry.hasPlace && (isClaimant || entry.lines == 0)
            if isReleased { (entry.hasPlace, entry.isKept) = (false, false) }
            if isClaimant { entry.isClaimed = false }
            state.entries[key] = entry.lines > 0 ? entry : nil
            return (entry.attempts, isReleased)
        }
        if hadPlace { release() }
        return attempts
    }

    /// Waits for a place for the image of a request, and defers the request if that takes long.
    func modify(_ request: TransportRequest) async throws -> TransportRequest {
        let key = request.url.string
        guard needsPlace(key) else { return request }
        if await places.reserveBriefly(1, for: key, whenWaiting: { endNeedlessWaits(of: key) }) {
            assignPlace(to: key)
        } else if needsPlace(key) {
            // Without taking the place: the request can have to wait for the rate of its host before it is sent.
            throw RequestDeferral { [self] in
                await places.awaitUnit(for: key) { endNeedlessWaits(of: key) }
            }
        }
        return request
    }

    /// Defers requests that have waited for a place for some time, until the task is canceled.
    ///
    /// The places of others are released at the pace of whatever reads the output, for which the deadline of a download
    /// does not provide, and the next line in order could need the slots. To defer every request would take more time
    /// than most waits.
    func deferRegularly() async {
        while (try? await Task.sleep(for: .milliseconds(250))) != nil { deferWaiting() }
    }

    /// Defers the requests that have waited for a place since the last call.
    func deferWaiting() { places.endBriefWaits() }

    private func needsPlace(_ key: String) -> Bool { state.withLock { $0.entries[key]?.hasPlace } == false }

    /// Waits for the place of a URL, unless it has one.
    private func take(_ key: String) async {
        while needsPlace(key) {
            let isReserved = await places.reserveUntilEnded(1, for: key) { endNeedlessWaits(of: key) }
            if isReserved { assignPlace(to: key) }
        }
    }

    /// Ends the waits for the place of a URL if it has been assigned just before they began.
    private func endNeedlessWaits(of key: String) {
        if !needsPlace(key) { places.endWaits(of: key) }
    }

    /// Gives a reserved place to a URL, or releases it if the URL has one, or no line.
    ///
    /// The request and its lines can all wait for the place.
    private func assignPlace(to key: String) {
        let isNeeded = state.withLock { state in
            guard state.entries[key]?.hasPlace == false else { return false }
            state.entries[key]?.hasPlace = true
            return true
        }
        if isNeeded { places.endWaits(of: key) } else { release() }
    }

    /// Lets a URL keep its place until its lines are answered, even while the download waits for a retry.
    ///
    /// Call this method before memory is used to process an image whose body is still arriving: otherwise, a retry
    /// could wait for places of lines that wait for that memory.
    func keep(_ key: String) async {
        state.withLock { $0.entries[key]?.isKept = true }
        await take(key)
    }

    /// Waits for the place of a URL, and makes it that of the calling line; returns `false` if it belongs to another.
    func claim(_ key: String) async -> Bool {
        let isFirst = state.withLock { state in
            guard state.entries[key]?.isClaimed == false else { return false }
            state.entries[key]?.isClaimed = true
            return true
        }
        if isFirst { await take(key) }
        return isFirst
    }

    /// Returns whether a URL has a place.
    func isHeld(_ key: String) -> Bool { state.withLock { $0.entries[key]?.hasPlace == true } }

    /// Waits for a place that belongs to no URL.
    func reserve() async { await places.reserve(1) }

    /// Follows the attempts of a download.
    func note(_ event: DownloadEvent) {
        switch event.kind {
        case .started(let attempt):
            transfers.withLock { _ = $0.insert(event.id) }
            state.withLock { $0.entries[event.url.string]?.attempts = attempt }
        case .retrying:
            endTransfer(event.id)
            let hadPlace = state.withLock { state in
                guard let entry = state.entries[event.url.string], entry.hasPlace, !entry.isKept else { return false }
                state.entries[event.url.string]?.hasPlace = false
                return true
            }
            if hadPlace { release() }
        case .deferred, .completed: endTransfer(event.id)
        default: break
        }
    }

    private func endTransfer(_ download: UInt64) {
        let wasFull = transfers.withLock { transfers in
            let wasFull = transfers.count >= transferLimit
            return transfers.remove(download) != nil && wasFull
        }
        if wasFull { reportFree() }
    }

    /// Serves all lines at once, because they only end.
    func abandon() { places.abandon() }
}
