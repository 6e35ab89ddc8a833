import AsyncWebImage
import Threading
import WebimageConsole

import Glibc

/// A shard that is being made.
final class OpenShard: Sendable {
    /// The conditions for completing a shard, which fail if the network seems to have been out.
    struct Conditions: Sendable, Equatable {
        /// The share of lines that failed with `tls` from which on these failures count as retryable.
        private static let tlsOutage = 0.9
        /// The number of such lines from which on it can be an outage: a few hosts have invalid certificates.
        private static let minimumTLSFailures = 10

        /// The maximum share of lines that failed with retryable errors.
        var maximumRetryableRate = 1.0
        /// The minimum share of successful lines.
        var minimumSuccessRate = 0.0

        func areMet(by statistics: BatchStatistics) -> Bool {
            let count = Double(max(1, statistics.count))
            // Nearly always, the cause is a proxy or a missing certificate, not the servers.
            let failures = statistics.byCode["tls"] ?? 0
            let isOutage = failures >= Self.minimumTLSFailures && Double(failures) / count >= Self.tlsOutage
            let tls = isOutage ? failures : 0
            return Double(statistics.retryable + tls) / count <= maximumRetryableRate
                && Double(statistics.successes) / count >= minimumSuccessRate
        }
    }

    private struct State {
        var images: ShardImages
        var sidecar: OrderedFile?
        /// The numbers of answers of this run.
        var answered = BatchStatistics()
        /// The rows of the lines that failed with retryable errors; `nil` if there are too many for the marker.
        var retryableRows: [Int]? = []
        /// The lines; `nil` until the last one has been read.
        var input: ShardMarker.Input?
        /// A Boolean value that indicates whether a line was canceled, so that the shard cannot be completed.
        var isSpoiled = false

        func isComplete(with committed: CommittedShard?) -> Bool {
            answered.count + (committed?.standing.count ?? 0) == input?.count
        }

        mutating func addRetryable(_ row: Int) {
            guard let count = retryableRows?.count else { return }
            if count < ShardMarker.maximumRows { retryableRows?.append(row) } else { retryableRows = nil }
        }
    }

    let number: Int
    /// The earlier version of the shard, of which only some lines are answered again; `nil` for none.
    private let committed: CommittedShard?
    /// A Boolean value that indicates whether there is an earlier version, which remains until this one is complete.
    private let isReplacement: Bool
    /// The lines that are answered, if those that are not stored are listed.
    private let lines: Lines?
    private let folder: ShardFolder
    private let columns: BatchRecord.Columns
    private let state: Locked<State>
    private let lock: ShardLock
    private let start = currentTime()

    /// The lines of a shard, as they were read.
    private struct Lines {
        /// Those that failed with retryable errors.
        let failed: LineFile
        let others: LineFile

        init(of shard: Int, in folder: ShardFolder) throws(FileError) {
            failed = try LineFile(path: folder.linesPath(shard, "failed"), hasHeader: false)
            others = try LineFile(path: folder.linesPath(shard, "others"), hasHeader: false)
        }
    }

    /// Creates the files of a shard whose lock is held; if it has a marker, they will replace its files.
    ///
    /// With `listsLines`, the lines are kept for ``list(in:isStored:)``.
    init(
        _ number: Int, in folder: ShardFolder, columns: BatchRecord.Columns, lock: consuming ShardLock,
        committed: CommittedShard? = nil, listsLines: Bool = false
    ) throws {
        self.number = number
        self.committed = committed
        self.folder = folder
        self.columns = columns
        self.lock = lock
        isReplacement = folder.hasMarker(number)
        if isReplacement { try folder.requireReplaceable(number) }
        folder.removeLeftovers(number)
        lines = listsLines ? try Lines(of: number, in: folder) : nil
        state = Locked(
            State(
                images: try folder.makeImages(number, committed), sidecar: try folder.makeSidecar(number, committed)))
    }

    /// The numbers of answers of this run.
    var answered: BatchStatistics { state.withLock { $0.answered } }

    /// Adds an answer; returns whether it was the last one.
    func add(_ answer: LineProcessor.Answer, row: Int) throws(FileError) -> Bool {
        var answer = answer
        let key = folder.keys.key(shard: number, row: row)
        answer.record.key = key
        let hasImage = folder.form != .none && answer.record.failure == nil
        let sample = hasImage ? BatchSample(answer, key: key, columns: columns) : nil
        let line = answer.record.object(columns).bytes + [UInt8(ascii: "\n")]
        let isRetryable = answer.record.failure?.isRetryable == true
        if let lines { (isRetryable ? lines.failed : lines.others).append(answer.record.entry) }
        return try state.withLock { state throws(FileError) in
            if let sample { try state.images.append(sample, row: row) }
            try state.sidecar?.append(line, row: row)
            state.answered.add(answer.record)
            if isRetryable { state.addRetryable(row) }
            if answer.record.failure?.code == .cancelled { state.isSpoiled = true }
            return state.isComplete(with: committed)
        }
    }

    /// Sets the lines of the shard, after the last one has been read; returns whether all of them are answered.
    func end(_ input: ShardMarker.Input) -> Bool {
        state.withLock { state in
            state.input = input
            return state.isComplete(with: committed)
        }
    }

    /// Adds the lines that failed with retryable errors to `file`, or all that were answered if they are not stored.
    func list(in file: LineFile, isStored: Bool) {
        guard let lines else { return }
        file.append(contentsOf: lines.failed)
        if !isStored { file.append(contentsOf: lines.others) }
    }

    /// Gives the files their names, runs `command`, and writes the marker; call this method once, when all lines are
    /// answered.
    ///
    /// Returns whether the shard is complete. It is discarded if the conditions are not met, or if the task is canceled
    /// while the command runs.
    func commit(_ conditions: Conditions, _ command: ShardCommand?, optionsDigest: String) async throws -> Bool {
        guard let input = state.withLock({ $0.isSpoiled ? nil : $0.input }) else { return false }
        var statistics = committed?.standing ?? BatchStatistics()
        statistics.add(answered)
        guard conditions.areMet(by: statistics) else { return false }
        var marker = ShardMarker(
            input: input, optionsDigest: optionsDigest, attempt: min(committed?.marker.attempt ?? 0, .max - 1) + 1)
        marker.retryableRows = state.withLock { $0.retryableRows }?.sorted()
        marker.hasCommand = command != nil || committed?.marker.hasCommand == true
        // If all lines failed again in a way that may pass, the files remain: the network may have been out.
        if let committed, statistics.retryable >= committed.statistics.retryable {
            marker.files = committed.marker.files
            try folder.writeMarker(object(marker, committed.statistics), at: folder.markerPath(number))
            return true
        }
        if isReplacement { return try await replace(marker, statistics, command) }
        do {
            let files = try placeFiles(replacing: false)
            try folder.sync()
            try await command?.run(files.map(\.path), shard: folder.keys.name(ofShard: number))
            try folder.writeMarker(object(marker, statistics, files), at: folder.markerPath(number))
            return true
        } catch {
            // Nothing incomplete remains under its final name.
            folder.removeFiles(number)
            if error is CancellationError { return false }
            throw error
        }
    }

    /// Replaces the earlier version of the shard; returns whether the command was not canceled.
    private func replace(
        _ marker: ShardMarker, _ statistics: BatchStatistics, _ command: ShardCommand?
    ) async throws -> Bool {
        do {
            let files = try placeFiles(replacing: true)
            try folder.requireReplaceable(number)
            try folder.decideReplacement(number, marker: object(marker, statistics, files))
        } catch {
            if !folder.isBeingReplaced(number) { folder.removeReplacement(number) }
            throw error
        }
        do {
            try await folder.completeReplacement(number, command)
            return true
        } catch is CancellationError {
            return false
        }
    }

    /// Completes the files of the shard, and gives them their final names or, if they replace others, hidden ones.
    private func placeFiles(replacing: Bool) throws -> [PlacedFile] {
        try state.withLock { state in
            // One at a time, to take less room on the disk.
            let path = folder.imagesPath(number)
            let images = try state.images.place(at: replacing ? folder.replacementPath(of: path) : path, for: path)
            state.images = .none
            let sidecar = try state.sidecar?.ordered(end: [])
            state.sidecar = nil
            let other = folder.sidecarPath(number)
            let place = replacing ? folder.replacementPath(of: other) : other
            return try [images, sidecar.map { try PlacedFile($0, at: place, for: other) }].compactMap(\.self)
        }
    }

    /// Returns the content of the marker.
    private func object(
        _ marker: ShardMarker, _ statistics: BatchStatistics, _ placed: [PlacedFile]
    ) -> JSONObject {
        var files = JSONObject()
        for file in placed { files.add(ShardFolder.name(of: file.path), raw: file.properties.bytes) }
        var marker = marker
        marker.files = files.bytes
        return object(marker, statistics)
    }

    private func object(_ marker: ShardMarker, _ statistics: BatchStatistics) -> JSONObject {
        var object = JSONObject()
        statistics.addCounts(to: &object)
        let end = currentTime()
        object.add("duration", rounded: end - start)
        object.add("start_time", rounded: start)
        object.add("end_time", rounded: end)
        marker.add(to: &object)
        object.add("version", PackageVersion.current)
        return object
    }
}

/// Returns the seconds since 1970.
func currentTime() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
