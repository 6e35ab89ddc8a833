import Threading

import Glibc

/// The removal of the least recently used entries of a folder.
///
/// There is no index of all entries. Files are listed only when something has to be removed, and the oldest of them are
/// remembered for the next time. In a folder with more than ``maximumListed`` entries, a random part is listed.
final class EntryEviction: Sendable {
    /// The number of entries listed at a time.
    static let maximumListed = 16_384
    /// The minimum number of candidates that are remembered.
    private static let minimumCandidates = 256
    /// The number of lists one after the other of which no entry could be removed, after which no more are made.
    private static let maximumFruitlessListings = 3
    /// The time, in nanoseconds, by which the clocks of the machines that share a folder can differ.
    private static let clockTolerance = 60_000_000_000

    private struct Candidate: Sendable {
        let key: ResponseStorageKey
        let usedAt: Int

        /// Returns the time of the last use for comparison.
        ///
        /// A time in the future counts as the earliest: the clock has been set back since, and all new entries would be
        /// removed first.
        func order(at now: Int) -> Int { usedAt > now &+ EntryEviction.clockTolerance ? 0 : usedAt }
    }

    private let folder: EntryFolder
    /// The candidates, the oldest last; locked while entries are removed.
    private let candidates = Locked<[Candidate]>([])

    /// Creates an object that evicts entries of a folder.
    init(_ folder: EntryFolder) {
        self.folder = folder
    }

    /// Removes entries until the others take at most `limit` bytes; returns the number of removed entries.
    ///
    /// Removes slightly more, so that files need not be listed for every new entry. Waits for other threads that remove
    /// entries, whose limits can be higher, but not for other processes.
    func enforce(_ limit: Int) throws(FileFailure) -> Int {
        size > limit ? try reduce(to: limit - limit / 64) : 0
    }

    private var size: Int { folder.recentTotalsOfShards.reduce(0) { $0 + $1.bytes } }

    private func reduce(to target: Int) throws(FileFailure) -> Int {
        try candidates.withLock { candidates throws(FileFailure) in
            var (listings, count) = (0, 0)
            // The lists after which nothing has been removed: other processes may remove the same entries.
            var fruitless = 0
            var failure: FileFailure?
            var size = size
            while size > target {
                if let oldest = candidates.popLast() {
                    do throws(FileFailure) {
                        if try folder.remove(oldest.key, ifUsedAt: oldest.usedAt) {
                            (count, fruitless) = (count + 1, 0)
                        }
                    } catch {
                        failure = error
                    }
                } else {
                    guard fruitless < Self.maximumFruitlessListings, listings < EntryFolder.shardCount else { break }
                    (listings, fruitless) = (listings + 1, fruitless + 1)
                    candidates = list()
                }
                size = self.size
            }
            if count == 0, let failure, failure.code != EAGAIN { throw failure }
            return count
        }
    }

    /// Lists files and returns the oldest quarter of them, the oldest last.
    private func list() -> [Candidate] {
        let first = Int.random(in: 0..<EntryFolder.shardCount)
        let totals = folder.recentTotalsOfShards
        var entries: [Candidate] = []
        for number in 0..<EntryFolder.shardCount where entries.count < Self.maximumListed {
            let shard = (first + number) % EntryFolder.shardCount
            guard totals[shard].bytes > 0 else { continue }
            var bytes = 0
            for status in folder.statuses(in: shard) {
                bytes += status.space
                if case .entry(let key) = status.file { entries.append(Candidate(key: key, usedAt: status.usedAt)) }
            }
            // A program that cleans up temporary folders, for example, has removed files: without a count, other files
            // would be removed to make up for their space.
            folder.recount(shard, unlessItHas: bytes)
        }
        let now = OpenFile.now
        entries.sort { $0.order(at: now) > $1.order(at: now) }
        return entries.suffix(max(Self.minimumCandidates, entries.count / 4))
    }
}
