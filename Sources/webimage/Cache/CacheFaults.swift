import AsyncWebImage

/// The parts of a cache folder that could not be read.
struct CacheFaults: Sendable, Equatable {
    /// The number of damaged responses and images.
    var damaged = 0
    /// The number of responses and images that could not be read.
    var unreadable = 0
    /// The number of the folders in the cache that could not be listed.
    var unlistedFolders = 0
    /// The first reason why something could not be read.
    var reason: String?

    var isEmpty: Bool { self == CacheFaults() }

    /// The faults without the damaged responses, which can be read.
    var unread: CacheFaults {
        var faults = self
        faults.damaged = 0
        return faults
    }

    mutating func add(_ fault: ResponseCache.Fault) {
        switch fault {
        case .damaged: damaged += 1
        case .unreadable(let error):
            unreadable += 1
            reason = reason ?? "\(error)"
        case .unlisted(let error):
            unlistedFolders += 1
            reason = reason ?? "\(error)"
        }
    }

    var text: String {
        var parts: [String] = []
        if damaged > 0 { parts.append("\(damaged) \(damaged == 1 ? "response is" : "responses are") damaged") }
        if unreadable > 0 { parts.append("\(unreadable) \(unreadable == 1 ? "response" : "responses") cannot be read") }
        if unlistedFolders > 0 {
            parts.append("\(unlistedFolders) of its folders cannot be listed")
        }
        return parts.joined(separator: ", ") + (reason.map { ": \($0)" } ?? "")
    }
}
