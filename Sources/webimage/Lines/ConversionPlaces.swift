import AsyncWebImage
import Threading

/// The lines whose images are downloaded, converted, or verified at a time: a request is sent only if there is a place
/// for its image, so that bodies do not arrive faster than they can be processed.
///
/// A line that waits for its first request, or for a retry, has no place. Lines with one URL share a place, unless they
/// claim places of their own.
final class ConversionPlaces: RequestModifier {
    private struct Entry {
        var lines = 0
        var hasPlace = false
        /// A Boolean value that indicates whether the place belongs to one of the lines.
        var isClaimed = false
        /// The number of the last attempt.
        var attempts = 0
    }

    private let places: Allowance
    /// The number of transfers at a time.
    private let transferLimit: Int
    /// The downloads that are being transferred, by their numbers.
    private let transfers = Locked(Set<UInt64>())
    private let entries = Locked([String: Entry]())
    private let observer = Locked(Observer())

    private struct Observer {
        var whenFree: (@Sendable () -> Void)?
    }

    /// Creates places for `limit` images, of which `transfers` are downloaded at a time.
    init(limit: Int, transfers: Int = .max) {
        places = Allowance(limit: limit)
        transferLimit = transfers
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

    /// Adds a line that will request a URL; returns a value for ``end(_:)``.
    func begin(_ url: String) -> String? {
        guard let key = try? HTTPURL(url).string else { return nil }
        entries.withLock { $0[key, default: Entry()].lines += 1 }
        return key
    }

    /// Removes a line that has been answered; returns the number of attempts to get its image.
    ///
    /// `isClaimant` indicates whether the place of the URL belongs to the line.
    @discardableResult func end(_ key: String, isClaimant: Bool = false) -> Int {
        let (attempts, hadPlace) = entries.withLock { entries in
            guard var entry = entries[key] else { return (0, false) }
            entry.lines -= 1
            let isReleased = entry.hasPlace && (isClaimant || entry.lines == 0)
            if isReleased { entry.hasPlace = false }
            if isClaimant { entry.isClaimed = false }
            entries[key] = entry.lines > 0 ? entry : nil
            return (entry.attempts, isReleased)
        }
        if hadPlace { release() }
        return attempts
    }

    func modify(_ request: TransportRequest) async throws -> TransportRequest {
        await take(request.url.string)
        return request
    }

    /// Waits for the place of a URL, unless it has one.
    private func take(_ key: String) async {
        guard entries.withLock({ $0[key]?.hasPlace }) == false else { return }
        await places.reserve(1)
        let isNeeded = entries.withLock { entries in
            guard entries[key]?.hasPlace == false else { return false }
            entries[key]?.hasPlace = true
            return true
        }
        if !isNeeded { release() }
    }

    /// Waits for the place of a URL, and makes it that of the calling line; returns `false` if it belongs to another.
    func claim(_ key: String) async -> Bool {
        let isFirst = entries.withLock { entries in
            guard entries[key]?.isClaimed == false else { return false }
            entries[key]?.isClaimed = true
            return true
        }
        if isFirst { await take(key) }
        return isFirst
    }

    /// Returns whether a URL has a place.
    func isHeld(_ key: String) -> Bool { entries.withLock { $0[key]?.hasPlace == true } }

    /// Waits for a place that belongs to no URL.
    func reserve() async { await places.reserve(1) }

    /// Follows the attempts of a download.
    func note(_ event: DownloadEvent) {
        switch event.kind {
        case .started(let attempt):
            transfers.withLock { _ = $0.insert(event.id) }
            entries.withLock { $0[event.url.string]?.attempts = attempt }
        case .retrying:
            endTransfer(event.id)
            let hadPlace = entries.withLock { entries in
                guard entries[event.url.string]?.hasPlace == true else { return false }
                entries[event.url.string]?.hasPlace = false
                return true
            }
            if hadPlace { release() }
        case .completed: endTransfer(event.id)
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
