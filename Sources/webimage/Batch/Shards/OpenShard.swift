import AsyncWebImage
import Threading
import WebimageConsole

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A shard that is being made.
final class OpenShard: Sendable {
    /// The conditions for completing a shard, which fail if the network seems to have been out.
    struct Conditions: Sendable, Equatable {
        /// The maximum share of lines that failed with retryable errors.
        var maximumRetryableRate = 1.0
        /// The minimum share of successful lines.
        var minimumSuccessRate = 0.0

        func areMet(by statistics: BatchStatistics) -> Bool {
            let count = Double(max(1, statistics.count))
            return Double(statistics.retryable) / count <= maximumRetryableRate
                && Double(statistics.successes) / count >= minimumSuccessRate
        }
    }

    private struct State {
        var archive: OrderedFile?
        var sidecar: OrderedFile?
        var statistics = BatchStatistics()
        /// The lines; `nil` until the last one has been read.
        var input: ShardMarker.Input?
        /// A Boolean value that indicates whether a line was canceled, so that the shard cannot be completed.
        var isSpoiled = false

        var isComplete: Bool { statistics.count == input?.count }
    }

    let number: Int
    private let folder: ShardFolder
    private let columns: BatchRecord.Columns
    private let state: Locked<State>
    private let lock: ShardLock
    private let start = currentTime()

    /// Creates the files of a shard whose lock is held.
    init(_ number: Int, in folder: ShardFolder, columns: BatchRecord.Columns, lock: consuming ShardLock)
        throws(FileError)
    {
        self.number = number
        self.folder = folder
        self.columns = columns
        self.lock = lock
        folder.removeLeftovers(number)
        state = Locked(
            State(
                archive: folder.form == .none ? nil : try OrderedFile(path: folder.archivePath(number)),
                sidecar: folder.hasSidecar ? try OrderedFile(path: folder.sidecarPath(number)) : nil))
    }

    /// Adds an answer; returns whether it was the last one.
    func add(_ answer: LineProcessor.Answer, row: Int) throws(FileError) -> Bool {
        var answer = answer
        let key = folder.keys.key(shard: number, row: row)
        answer.record.key = key
        let isSuccess = answer.record.failure == nil
        let sample =
            folder.form == .none || !isSuccess ? [] : BatchSample(answer, key: key, columns: columns).tar
        let line = answer.record.object(columns).bytes + [UInt8(ascii: "\n")]
        return try state.withLock { state throws(FileError) in
            try state.archive?.append(sample, row: row)
            try state.sidecar?.append(line, row: row)
            state.statistics.add(answer.record)
            if answer.record.failure?.code == .cancelled { state.isSpoiled = true }
            return state.isComplete
        }
    }

    /// Sets the lines of the shard, after the last one has been read; returns whether all of them are answered.
    func end(_ input: ShardMarker.Input) -> Bool {
        state.withLock { state in
            state.input = input
            return state.isComplete
        }
    }

    /// Gives the files their names, runs `command`, and writes the marker; call this method once, when all lines are
    /// answered.
    ///
    /// Returns whether the shard is complete. It is discarded if the conditions are not met, or if the task is canceled
    /// while the command runs.
    func commit(_ conditions: Conditions, _ command: ShardCommand?, optionsDigest: String) async throws -> Bool {
        guard let input = state.withLock({ $0.isSpoiled ? nil : $0.input }) else { return false }
        let statistics = state.withLock { $0.statistics }
        guard conditions.areMet(by: statistics) else { return false }
        do {
            let files = try placeFiles()
            try folder.sync()
            try await command?.run(files.map(\.path), shard: folder.keys.name(ofShard: number))
            try writeMarker(ShardMarker(input: input, optionsDigest: optionsDigest), statistics, files)
            return true
        } catch {
            // Nothing incomplete remains under its final name.
            folder.removeFiles(number)
            if error is CancellationError { return false }
            throw error
        }
    }

    /// A file of the shard under its final name.
    private struct PlacedFile {
        let path: String
        let bytes: Int
        let sha256: String
    }

    private func placeFiles() throws -> [PlacedFile] {
        try state.withLock { state in
            // One at a time, to take less room on the disk.
            let archive = try state.archive?.ordered(end: TarArchive.end)
            state.archive = nil
            let sidecar = try state.sidecar?.ordered(end: [])
            state.sidecar = nil
            return try [(folder.archivePath(number), archive), (folder.sidecarPath(number), sidecar)].compactMap {
                path, result in
                guard let result else { return nil }
                try result.file.place()
                return PlacedFile(path: path, bytes: result.file.count, sha256: result.sha256)
            }
        }
    }

    private func writeMarker(_ marker: ShardMarker, _ statistics: BatchStatistics, _ placed: [PlacedFile]) throws {
        var files = JSONObject()
        for file in placed {
            var properties = JSONObject()
            properties.add("bytes", file.bytes)
            properties.add("sha256", file.sha256)
            files.add(file.path.split(separator: "/").last.map { String($0) } ?? file.path, raw: properties.bytes)
        }
        var object = JSONObject()
        statistics.addCounts(to: &object)
        let end = currentTime()
        object.add("duration", rounded: end - start)
        object.add("start_time", rounded: start)
        object.add("end_time", rounded: end)
        marker.add(to: &object)
        object.add("files", raw: files.bytes)
        object.add("version", PackageVersion.current)
        let file = try PartFile(path: folder.markerPath(number))
        try file.append(object.bytes + [UInt8(ascii: "\n")])
        try file.sync()
        try file.place()
        try folder.sync()
    }
}

/// Returns the seconds since 1970.
private func currentTime() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
