import AsyncWebImage
import Threading

/// Counts the attempts to download the images of open lines.
final class AttemptCounter: Sendable {
    private struct Entry {
        var lines = 0
        /// The number of the last attempt.
        var attempts = 0
    }

    private let entries = Locked<[String: Entry]>([:])

    /// Adds a line that requests `url`; returns a value for ``end(_:)``, or `nil` if the URL is invalid.
    func begin(_ url: String) -> String? {
        guard let key = try? HTTPURL(url).string else { return nil }
        entries.withLock { $0[key, default: Entry()].lines += 1 }
        return key
    }

    /// Removes a line that has been answered; returns the number of attempts to get its image.
    func end(_ key: String) -> Int {
        entries.withLock { entries in
            guard var entry = entries[key] else { return 0 }
            entry.lines -= 1
            entries[key] = entry.lines > 0 ? entry : nil
            return entry.attempts
        }
    }

    /// Follows the attempts of a download.
    func note(_ event: DownloadEvent) {
        guard case .started(let attempt) = event.kind else { return }
        entries.withLock { $0[event.url.string]?.attempts = attempt }
    }
}
