import Threading
import WebimageConsole

/// An output that writes records and images to shards in a folder; each shard appears complete or not at all.
final class ShardOutput: BatchOutput {
    /// The rules for the shards that this process makes.
    struct Rules: Sendable {
        var plan: ShardPlan
        var conditions = OpenShard.Conditions()
        /// The command that is run for each shard before it is complete.
        var command: ShardCommand?
        /// A Boolean value that indicates whether complete shards are made again.
        var overwrites = false
        /// The digest of the first lines of the list, if its shards replace those of the folder's first list.
        var replacingHead: String?
        /// A Boolean value that indicates whether the lines of complete shards that failed with retryable errors are
        /// answered again.
        var retriesFailures = false
        /// A Boolean value that indicates whether the process waits for a shard that another one makes.
        var waits = false
        var optionsDigest = ""
    }

    /// The maximum number of shards that are being made.
    static let maximumOpenShards = 16

    private struct State {
        var open: [Int: OpenShard] = [:]
        var uncommitted = 0
        /// The numbers of answers in shards that were not completed.
        var refused = BatchStatistics()
        var stored = BatchStatistics()
        var completeLines = 0
        var earlier = EarlierResults()
        /// The highest number of a shard of the list so far.
        var lastShard: Int?
        /// A Boolean value that indicates whether a shard of the folder's first list has been replaced.
        var hasReplaced = false
        /// The number of shards whose failures could not be retried, because they are damaged.
        var damaged = 0
    }

    private let folder: ShardFolder
    private let list: ShardList
    private let rules: Rules
    private let columns: BatchRecord.Columns
    /// The file for the lines that failed with retryable errors, in complete shards as well, and for those that are not
    /// stored because their shard is not complete; `nil` for none.
    private let failedLines: LineFile?
    private let openShards: FairSemaphore
    private let state = Locked(State())
    private let reader = Locked<ShardReader?>(nil)
    /// Counts the lines of this process's part.
    private let plan: Locked<ShardPlan>
    /// The time at which this run began.
    private let start = currentTime()

    init(
        _ folder: ShardFolder, list: consuming ShardList, rules: Rules, columns: BatchRecord.Columns,
        failedLines: LineFile? = nil, openShards: Int
    ) {
        self.folder = folder
        self.list = list
        self.rules = rules
        plan = Locked(rules.plan)
        self.columns = columns
        self.failedLines = failedLines
        self.openShards = FairSemaphore(limit: openShards)
    }

    /// The number of shards that are being made.
    var openCount: Int { state.withLock { $0.open.count } }

    /// Throws ``IncompleteShards`` if there are shards that were not completed, or whose failures could not be retried.
    func requireComplete() throws {
        let sentences = [damage, refusal].compactMap(\.self)
        guard sentences.isEmpty else { throw IncompleteShards(sentences: sentences, areDamaged: damage != nil) }
    }

    /// A sentence about the shards that were not completed, with the most frequent failures; `nil` if there are none.
    private var refusal: String? {
        let (count, refused) = state.withLock { ($0.uncommitted, $0.refused) }
        guard count > 0 else { return nil }
        let failures = refused.byCode.filter { $0.key != "success" }
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(3)
        let codes = failures.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        let shards = count == 1 ? "1 shard is" : "\(count) shards are"
        let remains = rules.retriesFailures || rules.overwrites
        return "\(shards) not complete\(remains ? ", or not written again" : ""): too many of the lines failed "
            + "(\(codes)); see --max-retryable-rate and --min-success-rate"
            + (failures.first?.key == "tls"
                ? ", and --cacert for servers or a proxy with a certificate of your own" : "")
    }

    /// A sentence about the shards whose failures could not be retried; `nil` if there are none.
    private var damage: String? {
        let count = state.withLock { $0.damaged }
        return count == 0
            ? nil : "the failures of \(count) damaged \(count == 1 ? "shard" : "shards") were not retried; see above"
    }

    /// The numbers of answers of this run in complete shards.
    var storedResults: BatchStatistics { state.withLock { $0.stored } }

    /// The number of lines read that belong to shards completed by an earlier run.
    var completeLineCount: Int { state.withLock { $0.completeLines } }

    /// The results of the shards that were complete when this run reached them, and have been read to their end.
    var earlierResults: EarlierResults { state.withLock { $0.earlier } }

    func takes(_ entry: inout ListEntry) async throws -> Bool {
        guard let position = plan.withLock({ $0.position(of: entry) }) else {
            state.withLock { $0.earlier.skipped += 1 }
            return false
        }
        entry.position = position
        let shard = rules.plan.shard(at: position)
        if reader.withLock({ $0?.number }) != shard {
            try await endList()
            state.withLock { $0.lastShard = max($0.lastShard ?? shard, shard) }
            let use = try await use(of: shard)
            try reader.withLock { $0 = try ShardReader(shard, first: entry.index, use: use) }
        }
        let row = rules.plan.row(at: position)
        switch reader.withLock({ [entry] in $0?.add(entry, row: row) ?? .foreign }) {
        case .answered: return true
        case .standing(let isFailure):
            state.withLock { $0.completeLines += 1 }
            if isFailure { failedLines?.append(entry) }
        case .foreign: state.withLock { $0.earlier.skipped += 1 }
        }
        return false
    }

    func endList() async throws {
        let ended = try reader.withLock { reader -> (Int, ShardReader.Use, ShardMarker.Input)? in
            defer { reader = nil }
            return try reader.map { ($0.number, $0.use, try $0.input()) }
        }
        guard let (number, use, input) = ended else { return }
        switch use {
        case .skip: break
        case .check(let marker, _):
            try check(marker, input, shard: number)
            state.withLock { $0.earlier.add(marker) }
        case .make(let shard, let marker):
            if let marker { try check(marker, input, shard: number) }
            if shard.end(input) { try await commit(shard) }
        case .retry(let shard, let committed):
            try check(committed.marker, input, shard: number)
            state.withLock { $0.earlier.add(committed.standing) }
            if shard.end(input) { try await commit(shard) }
        }
    }

    private func check(_ marker: ShardMarker, _ input: ShardMarker.Input, shard: Int) throws {
        guard marker.describes(input, optionsDigest: rules.optionsDigest) else {
            throw ConflictingRun(
                description: "the shard \(folder.keys.name(ofShard: shard)) in \(folder.path) was made from other "
                    + "lines or with other options; see --overwrite and --extend")
        }
    }

    /// Returns what happens to the lines of a shard; takes its lock if they are answered.
    private func use(of shard: Int) async throws -> ShardReader.Use {
        guard rules.plan.includes(shard: shard) else { return .skip }
        while true {
            if !rules.overwrites, !folder.isBeingReplaced(shard), let marker = try folder.marker(shard),
                !needsRetry(marker), sizeFault(marker, of: shard) == nil
            {
                try folder.removeLeftovers(ofComplete: shard)
                return useOfComplete(shard, marker)
            }
            if let lock = try ShardLock(path: folder.lockPath(shard)) {
                if folder.isBeingReplaced(shard) { try await folder.completeReplacement(shard, rules.command) }
                // Another process may have completed it in the meantime.
                guard !rules.overwrites, let marker = try folder.marker(shard) else {
                    return .make(try await open(shard, lock))
                }
                if let fault = sizeFault(marker, of: shard) {
                    Terminal.error.tell("webimage: \("\(fault): the shard is made again".printable)\n")
                    return .make(try await open(shard, lock), marker)
                }
                return needsRetry(marker) ? try await retry(shard, marker, lock) : useOfComplete(shard, marker)
            }
            // A shard that belongs to this process alone is held by an earlier attempt, which is about to end.
            guard rules.waits else { return .skip }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Returns the use of a complete shard whose failures are answered again, unless it is damaged.
    private func retry(
        _ shard: Int, _ marker: ShardMarker, _ lock: consuming ShardLock
    ) async throws -> ShardReader.Use {
        do {
            let committed = try CommittedShard(shard, marker, in: folder)
            guard !committed.retriedRows.isEmpty else { return .check(marker) }
            return .retry(try await open(shard, lock, committed), committed)
        } catch let damage as DamagedShard {
            note(damage, of: shard)
            return useOfComplete(shard, marker)
        }
    }

    /// Tells that the failures of a shard are not retried, and counts the shard.
    private func note(_ damage: DamagedShard, of shard: Int) {
        state.withLock { $0.damaged += 1 }
        let name = folder.keys.name(ofShard: shard)
        let sentence =
            "cannot retry the failures of the shard \(name): \(damage); remove \(folder.markerPath(shard)) to make the "
            + "shard again"
        Terminal.error.tell("webimage: \(sentence.printable)\n")
    }

    /// Returns what is wrong with the sizes of the files of a complete shard, unless a command may have moved them.
    private func sizeFault(_ marker: ShardMarker, of shard: Int) -> String? {
        rules.command == nil ? folder.sizeFault(marker, of: shard) : nil
    }

    /// Returns the use of a complete shard whose lines are not answered again.
    private func useOfComplete(_ shard: Int, _ marker: ShardMarker) -> ShardReader.Use {
        guard failedLines != nil, marker.retryable != 0 else { return .check(marker) }
        if let rows = marker.retryableRows {
            return .check(marker, failures: RowSet(rows.filter { $0 < folder.keys.samplesPerShard }))
        }
        // There are too many to be listed, but the records tell the same, unless they have been moved elsewhere.
        if folder.hasSidecar, let committed = try? CommittedShard(shard, marker, in: folder) {
            return .check(marker, failures: committed.retriedRows)
        }
        state.withLock { $0.earlier.unlistedShards += 1 }
        return .check(marker)
    }

    /// Returns whether lines of a complete shard must be answered again.
    ///
    /// A shard whose marker is newer than this run has been retried by another process that retries the same list.
    private func needsRetry(_ marker: ShardMarker) -> Bool {
        rules.retriesFailures && marker.retryable != 0 && marker.endTime < start
    }

    private func open(
        _ number: Int, _ lock: consuming ShardLock, _ committed: CommittedShard? = nil
    ) async throws -> OpenShard {
        if committed == nil, let nextList = list.nextList, number >= nextList {
            throw ConflictingRun(
                description: "the shard \(folder.keys.name(ofShard: number)) in \(folder.path) belongs to a list that "
                    + "was added before this one was complete: choose another folder")
        }
        try await openShards.acquireUnlessCanceled()
        do {
            let shard = try OpenShard(
                number, in: folder, columns: columns, lock: lock, committed: committed,
                listsLines: failedLines != nil)
            state.withLock { $0.open[number] = shard }
            return shard
        } catch {
            openShards.release()
            throw error
        }
    }

    func deliver(_ answer: LineProcessor.Answer) async throws(FileError) {
        let position = answer.record.entry.position
        let number = rules.plan.shard(at: position)
        if let shard = state.withLock({ $0.open[number] }),
            try shard.add(answer, row: rules.plan.row(at: position))
        {
            try await commit(shard)
        }
    }

    private func commit(_ shard: OpenShard) async throws(FileError) {
        var (isCommitted, isDamaged) = (false, false)
        do {
            isCommitted = try await shard.commit(
                rules.conditions, rules.command, optionsDigest: rules.optionsDigest)
            if isCommitted, let head = rules.replacingHead, state.withLock({ !$0.hasReplaced }) {
                try folder.replaceFirstList(by: head)
            }
        } catch let damage as DamagedShard {
            isDamaged = true
            note(damage, of: shard.number)
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError(description: "\(error)")
        }
        state.withLock { state in
            state.open[shard.number] = nil
            if isCommitted { state.hasReplaced = true }
            if isCommitted {
                state.stored.add(shard.answered)
            } else if !isDamaged {
                state.uncommitted += 1
                state.refused.add(shard.answered)
            }
        }
        if let failedLines { shard.list(in: failedLines, isStored: isCommitted) }
        openShards.release()
    }

    func finish(_ statistics: BatchStatistics, isComplete: Bool) async throws(FileError) {
        // The shards of an interrupted run are incomplete.
        discard()
        guard isComplete, rules.replacingHead != nil, rules.plan.part == nil,
            let last = state.withLock({ $0.lastShard }),
            let old = try? folder.completeShards(after: last, before: list.nextList), let first = old.first
        else { return }
        let shards = old.count == 1 ? "1 shard" : "\(old.count) shards"
        Terminal.error.tell(
            "webimage: \(shards) of an earlier list remain in \(folder.path.printable), from "
                + "\(folder.keys.name(ofShard: first)) on: remove them if the images are to be those of this list alone\n"
        )
    }

    func discard() {
        reader.withLock { $0 = nil }
        let open = state.withLock { state in
            defer { state.open = [:] }
            return state.open
        }
        guard let failedLines else { return }
        for shard in open.sorted(by: { $0.key < $1.key }) { shard.value.list(in: failedLines, isStored: false) }
    }
}

/// The error at the end of a run with shards that were not completed, or whose failures could not be retried.
struct IncompleteShards: Error {
    let sentences: [String]
    /// A Boolean value that indicates whether some of the shards are damaged.
    let areDamaged: Bool
}
