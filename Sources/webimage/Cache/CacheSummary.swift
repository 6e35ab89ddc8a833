import AsyncWebImage
import Threading
import WebimageConsole

/// The number and the sizes of the responses in a cache.
struct CacheSummary: Sendable, Equatable {
    /// The number of complete responses.
    var complete = 0
    /// The number of responses of which only the beginning is stored.
    var partial = 0
    /// The number of files made of responses.
    var results = 0
    /// The number of complete responses that can be used without asking the origin.
    var fresh = 0
    /// The size of the bodies in bytes.
    var bodyBytes = 0
    /// The space that the cache takes, in bytes.
    var bytes = 0
    /// The parts of the folder that cannot be counted.
    var faults = CacheFaults()

    init() {}

    /// Counts the responses of a cache.
    init(of cache: ResponseCache) async {
        let summary = Locked(CacheSummary())
        await cache.forEachEntry { entry in
            summary.withLock { $0.add(entry) }
            return true
        } onFault: { fault in
            summary.withLock { $0.faults.add(fault) }
        }
        self = summary.withLock { $0 }
        bytes = cache.byteCount
    }

    private mutating func add(_ entry: ResponseCache.Entry) {
        bodyBytes += entry.bodyByteCount
        if entry.isResult {
            results += 1
        } else if entry.isPartial {
            partial += 1
        } else {
            complete += 1
            if entry.isFresh { fresh += 1 }
        }
    }

    var text: String {
        """
        responses  \(complete) (\(fresh) fresh, \(complete - fresh) stale), \(partial) partial\(resultsText)\(damagedText)
        bodies     \(ByteCount(bodyBytes))
        space      \(ByteCount(bytes))
        """
    }

    private var resultsText: String { results > 0 ? ", \(results) made of them" : "" }

    private var damagedText: String { faults.damaged > 0 ? ", \(faults.damaged) damaged" : "" }

    var json: String {
        var object = JSONObject()
        object.add("complete", complete)
        object.add("fresh", fresh)
        object.add("partial", partial)
        object.add("results", results)
        object.add("body_bytes", bodyBytes)
        object.add("bytes", bytes)
        object.add("damaged", faults.damaged)
        object.add("unreadable", faults.unreadable)
        object.add("unlisted_folders", faults.unlistedFolders)
        return object.text
    }
}
