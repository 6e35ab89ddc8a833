import AsyncWebImage
import Threading

/// The lines whose images are downloaded, converted, or verified at a time: a request is sent only if there is a place
/// for its image, so that bodies do not arrive faster than they can be processed.
///
/// A line that waits for its first request, or for a retry, has no place. Lines with one URL share a place.
final class ConversionPlaces: RequestModifier {
    private struct Entry {
        var lines = 0
        var hasPlace = false
        /// The number of the last attempt.
        var attempts = 0
    }

    private let places: Allowance
    private let entries = Locked([String: Entry]())
    private let observer = Locked(Observer())

    private struct Observer {
        var whenFree: (@Sendable () -> Void)?
    }

    init(limit: Int) {
        places = Allowance(limit: limit)
    }

    /// A Boolean value that indicates whether a request could be sent.
    var areFree: Bool { !places.isExhausted }

    /// Sets a closure that is called when a place has become free.
    func whenFree(_ call: @escaping @Sendable () -> Void) { observer.withLock { $0.whenFree = call } }

    private func release() {
        places.release(1)
        observer.withLock { $0.whenFree }?()
    }

    /// Adds a line that will request a URL; returns a value for ``end(_:)``.
    func begin(_ url: String) -> String? {
        guard let key = try? HTTPURL(url).string else { return nil }
        entries.withLock { $0[key, default: Entry()].lines += 1 }
        return key
    }

    /// Removes a line that has been answered; returns the number of attempts to get its image.
    @discardableResult func end(_ key: String) -> Int {
        let (attempts, hadPlace) = entries.withLock { entries in
            guard var entry = entries[key] else { return (0, false) }
            entry.lines -= 1
            entries[key] = entry.lines > 0 ? entry : nil
            return (entry.attempts, entry.lines == 0 && entry.hasPlace)
        }
        if hadPlace { release() }
        return attempts
    }

    func modify(_ request: TransportRequest) async throws -> TransportRequest {
        let key = request.url.string
        if entries.withLock({ $0[key]?.hasPlace }) == false {
            await places.reserve(1)
            let isNeeded = entries.withLock { entries in
                guard entries[key]?.hasPlace == false else { return false }
                entries[key]?.hasPlace = true
                return true
            }
            if !isNeeded { release() }
        }
        return request
    }

    /// Follows the attempts of a download.
    func note(_ event: DownloadEvent) {
        switch event.kind {
        case .started(let attempt): entries.withLock { $0[event.url.string]?.attempts = attempt }
        case .retrying:
            let hadPlace = entries.withLock { entries in
                guard entries[event.url.string]?.hasPlace == true else { return false }
                entries[event.url.string]?.hasPlace = false
                return true
            }
            if hadPlace { release() }
        default: break
        }
    }

    /// Serves all lines at once, because they only end.
    func abandon() { places.abandon() }
}
