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
        var images: ShardImages
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
    init(_ number: Int, in folder: ShardFolder, columns: BatchRecord.Columns, lock: consuming ShardLock) throws {
        self.number = number
        self.folder = folder
        self.columns = columns
        self.lock = lock
        folder.removeLeftovers(number)
        state = Locked(
            State(
                images: try folder.makeImages(number),
                sidecar: folder.hasSidecar
                    ? try OrderedFile(path: folder.sidecarPath(number), isSorted: folder.isSorted) : nil))
    }

    /// Adds an answer; returns whether it was the last one.
    func add(_ answer: LineProcessor.Answer, row: Int) throws(FileError) -> Bool {
        var answer = answer
        let key = folder.keys.key(shard: number, row: row)
        answer.record.key = key
        let hasImage = folder.form != .none && answer.record.failure == nil
        let sample = hasImage ? BatchSample(answer, key: key, columns: columns) : nil
        let line = answer.record.object(columns).bytes + [UInt8(ascii: "\n")]
        return try state.withLock { state throws(FileError) in
            if let sample { try state.images.append(sample, row: row) }
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

    private func placeFiles() throws -> [PlacedFile] {
        try state.withLock { state in
            // One at a time, to take less room on the disk.
            let images = try state.images.place(at: folder.imagesPath(number))
            state.images = .none
            let sidecar = try state.sidecar?.ordered(end: [])
            state.sidecar = nil
            return try [images, sidecar.map { try PlacedFile($0, at: folder.sidecarPath(number)) }].compactMap(\.self)
        }
    }

    private func writeMarker(_ marker: ShardMarker, _ statistics: BatchStatistics, _ placed: [PlacedFile]) throws {
        var files = JSONObject()
        for file in placed {
            files.add(
                file.path.split(separator: "/").last.map { String($0) } ?? file.path, raw: file.properties.bytes)
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
