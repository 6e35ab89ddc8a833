import ArgumentParser
import AsyncWebImage
import CLinux
import Hashing
import Threading
import WebimageConsole

import Glibc

extension BatchCommand {
    func run() async throws {
        if resources.dieWithParent { clinux_die_with_parent() }
        do {
            if let verify { return try Self.verify(verify) }
            try await answerAll()
        } catch let error as UnusableList {
            Terminal.error.tell("webimage: \(error.description.printable)\n")
            throw ExitCode(64)
        } catch let error as ConflictingRun {
            Terminal.error.tell("webimage: \(error.description.printable)\n")
            throw ExitCode(65)
        } catch let error as FileError {
            Terminal.error.tell("webimage: \(error.description.printable)\n")
            throw ExitCode(74)
        } catch let error as IncompleteShards {
            for sentence in error.sentences { Terminal.error.tell("webimage: \(sentence)\n") }
            // An operator must act on damage before another run helps.
            throw ExitCode(error.areDamaged ? 74 : 75)
        }
    }

    /// Tells what is wrong with the shards of a folder, on standard output.
    private static func verify(_ folder: String) throws {
        let report = try FolderVerifier(path: folder).run { try Terminal.output.write($0.printable + "\n") }
        Terminal.error.tell("webimage: \(report.description.printable)\n")
        if report.faults > 0 { throw ExitCode.failure }
    }

    private var writesFolder: Bool { output.output != "-" }

    private func answerAll() async throws {
        let workers = ThreadPool(count: resources.threads ?? availableProcessorCount())
        let budget = try OpenFileBudget.reserve(openFiles(workers: workers.count))
        let lines = try BatchList(
            path: list.input, format: list.inputFormat, columns: listColumns,
            for: BatchList.Purpose(
                passesOn: output.echo || output.stream == .tar || writesFolder,
                // A program can have no lines for standard input.
                requiresEntries: writesFolder || list.input != "-"))
        // Before anything is written; a program that writes the list may wait for the beginning of the stream.
        if writesFolder || lines.isRegular { try await lines.check() }
        // Some images are converted while the next ones arrive.
        let converted = min(2 * workers.count, budget.filesOfCompleteBodies)
        let transport = CurlTransport(configuration: transport(budget))
        let loader = ImageLoader(configuration: try configuration(budget), transport: transport)
        let attempts = AttemptCounter()
        loader.coordinator.addListener { attempts.note($0) }
        let progress = BatchProgress(
            interval: output.statsInterval.map { .seconds($0) }, form: output.progress)
        let processor = LineProcessor(
            loader: loader, plans: LinePlans(images, needsPixels: !output.pixelHashes.isEmpty), memory: memoryLimits,
            scratch: try OutputFolder(path: output.output == "-" ? OutputFolder.temporaryPath : output.output),
            filter: rules.filter,
            digest: output.digest, verified: list.verifyHash?.algorithm, readsExif: output.exif,
            hashes: output.pixelHashes, readsHeaderOnly: output.headerOnly, handlesCookies: requests.cookies != nil,
            room: FairSemaphore(limit: 64 << 20),
            waitingFiles: FairSemaphore(limit: budget.filesOfCompleteBodies - converted), isOrdered: output.ordered,
            attempts: attempts,
            robots: rules.robotsText ? RobotsCheck(loader: loader, token: rules.robotsToken) : nil)
        let failedLines = try output.failedTo.map { try LineFile(path: $0) }

        let destination = try await makeDestination(lines, budget, failedLines: failedLines)
        let run = BatchRun(
            list: lines, processor: processor, output: destination.output,
            limits: BatchRun.Limits(active: budget.images + converted, open: resources.lookahead), progress: progress,
            workers: workers, grace: .seconds(resources.grace)
        ) { record in
            // A folder lists lines that are not stored as well.
            if !writesFolder, record.failure?.isRetryable == true { failedLines?.append(record.entry) }
        }

        let telling = Task {
            await progress.tellRegularly {
                var activity = await run.activity(destination.shards)
                activity.lookups = transport.lookupCount
                return activity
            }
        }
        let watching = Task {
            do throws(FileError) { try await destination.writer?.watchReader() } catch { run.fail(error) }
        }
        defer {
            telling.cancel()
            watching.cancel()
            progress.close(earlier: destination.shards?.earlierResults.statistics.count ?? 0)
        }
        let (hasCache, path, failOnError) = (cache.folder != nil, output.summary, output.failOnError)
        // Until everything is written, because a signal must end the process even if a disk does not respond.
        let summary = try await Interruption.cancelling {
            let result = await Result { try await run.run() }
            // Writes pending responses, including interrupted ones, to disk before the process ends.
            if hasCache { await loader.shutdown(gracePeriod: .zero) }
            // A list that cannot be used, or is not that of the folder, has no results.
            if case .failure(let error) = result, error is UnusableList || error is ConflictingRun { throw error }
            let summary = destination.summary(answered: progress.statistics, lines: await lines.counts)
            do throws(FileError) {
                // The lines that failed before an interruption are worth keeping as well.
                try failedLines?.place()
                try Self.report(summary, in: path, failOnError: failOnError)
            } catch {
                // Otherwise, only the interruption would be told.
                if Task.isCancelled { Terminal.error.tell("webimage: \(error.description.printable)\n") }
                throw error
            }
            try result.get()
            return summary
        }
        try destination.shards?.requireComplete()
        if output.failOnError, summary.hasFailures { throw ExitCode.failure }
    }

    /// The destination of the answers: shards, or a stream and its writer.
    private struct Destination {
        let output: any BatchOutput
        var shards: ShardOutput?
        var writer: StreamWriter?

        func summary(answered: BatchStatistics, lines: ListCounts) -> BatchSummary {
            guard let shards else { return BatchSummary(answered: answered, lines: lines) }
            let stored = shards.storedResults
            return BatchSummary(
                answered: stored, earlier: shards.earlierResults, incomplete: answered.count - stored.count,
                lines: lines)
        }
    }

    private func makeDestination(
        _ lines: BatchList, _ budget: OpenFileBudget, failedLines: LineFile?
    ) async throws -> Destination {
        guard !writesFolder else {
            let folder = try shardFolder()
            let head = try await lines.headDigest()
            let list =
                output.extend
                ? try folder.addList(head) : try folder.beginList(head)
            var rules = try shardRules(firstShard: list.firstShard)
            if output.overwrite, !output.extend { rules.replacingHead = head }
            let shards = ShardOutput(
                folder, list: list, rules: rules, columns: output.folderColumns(listColumns),
                failedLines: failedLines, openShards: budget.shards)
            return Destination(output: shards, shards: shards)
        }
        let writer = try StreamWriter(descriptor: STDOUT_FILENO, named: "standard output")
        let log = try output.log.map { try StreamWriter(descriptor: Self.openLog($0), named: $0) }
        let stream = RecordStream(
            streamForm, columns: output.streamColumns(listColumns), to: writer, log: log)
        try await stream.begin(version: PackageVersion.current, optionsDigest: optionsDigest)
        return Destination(output: stream, writer: writer)
    }

    /// Writes the summary to the file at `path`, if given, and tells what the results do not cover.
    private static func report(_ summary: BatchSummary, in path: String?, failOnError: Bool) throws(FileError) {
        if let path {
            let file = try ReplacingFile(path: path)
            try file.append(summary.object.bytes + [UInt8(ascii: "\n")])
            try file.place()
        }
        if path != nil || failOnError, let sentence = summary.unknownResults {
            Terminal.error.tell("webimage: \(sentence)\n")
        }
        if let sentence = summary.unknownFailures { Terminal.error.tell("webimage: \(sentence)\n") }
    }

    private static func openLog(_ path: String) throws(FileError) -> Int32 {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileError("create", path) }
        return descriptor
    }
}

extension Result where Failure == any Error, Success: Sendable {
    /// Creates the result of `body`.
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
