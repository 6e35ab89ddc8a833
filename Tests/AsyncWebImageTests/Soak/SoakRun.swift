import Foundation
import LoopbackOrigin
import TestSupport

@testable import AsyncWebImage
@testable import ResponseCache

/// Callers, faults, cancellations, and configuration changes at random, for a time: whatever the schedule, every caller
/// gets a result and no resource is leaked.
///
/// One loader serves all rounds. After each round, no activity may be left. Each round has a new origin, and therefore
/// a host that the loader has not seen. The seed determines requests and responses, but not the schedule.
struct SoakRun: Sendable {
    var seed: UInt64
    var duration: Duration
    var roundDuration: Duration
    var callers = 200
    /// The closure that is called with a summary after each round.
    var report: @Sendable (String) -> Void = { _ in }

    static let maximumBodyBytes = 1 << 20
    /// The number of bytes by which memory may grow after the warm-up, because the heaps of many threads vary in size.
    static let memoryTolerance = 16 << 20
    /// The additional number of bytes for each request, because the testing library keeps the location of every error.
    static let memoryOfErrors = 80
    private static let warmUpRounds = 2

    private let tally = SoakTally()
    /// The folder of the response cache.
    private let folder = NSTemporaryDirectory() + "/async-web-image-soak-" + UUID().uuidString

    init(seed: UInt64, duration: Duration, roundDuration: Duration) {
        self.seed = seed
        self.duration = duration
        self.roundDuration = roundDuration
    }

    /// The violations found; empty if there are none.
    func run() async throws -> [String] {
        let files = try SoakSite.makeFiles()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await warmUp(files)
        let openFiles = ProcessState.openFiles
        var memory: [Int] = []
        let start = ContinuousClock.now
        var loader: ImageLoader? = ImageLoader(configuration: try configuration())
        while let loader, memory.isEmpty || ContinuousClock.now - start < duration {
            try await withLoopbackOrigin { origin in
                await round(memory.count, loader, SoakSite(origin, files: files, seed: seed &+ UInt64(memory.count)))
            }
            loader.imageCache.removeAll()
            memory.append(ProcessState.residentBytes)
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            report(
                "\(Int(seconds)) s: \(tally.requests) requests, \(memory[memory.count - 1] >> 20) MiB; \(tally.ends)")
            guard tally.findings.isEmpty else { break }
        }
        loader = nil
        await expect("files: \(ProcessState.openFiles), before \(openFiles)") {
            ProcessState.openFiles.count <= openFiles.count
        }
        await expect("threads: \(ProcessState.threads(named: "webimage-"))") {
            ProcessState.threads(named: "webimage-").isEmpty
        }
        if memory.count > Self.warmUpRounds, let last = memory.last,
            last - memory[Self.warmUpRounds - 1] > Self.memoryTolerance + tally.requests * Self.memoryOfErrors
        {
            tally.find("memory after each round, in MiB: \(memory.map { $0 >> 20 })")
        }
        return tally.findings
    }

    /// The runtime keeps resources of its first timers of each kind: a short round of another loader creates these.
    private func warmUp(_ files: [[UInt8]]) async throws {
        var short = self
        short.roundDuration = .milliseconds(500)
        try await withLoopbackOrigin { origin in
            let loader = ImageLoader(configuration: try configuration())
            await short.round(0, loader, SoakSite(origin, files: files, seed: seed))
        }
        await expect("threads before") { ProcessState.threads(named: "webimage-").isEmpty }
    }

    private func configuration() throws -> ImageLoader.Configuration {
        var configuration = ImageLoader.Configuration()
        configuration.transport.proxy = .none
        configuration.downloads.deadlines = Deadlines(
            connect: .seconds(5), firstByte: .milliseconds(500), idle: .milliseconds(200), total: .seconds(5))
        configuration.downloads.retry = ExponentialBackoff(maximumAttempts: 2, base: .milliseconds(20))
        configuration.downloads.maximumBodyBytes = Self.maximumBodyBytes
        configuration.downloads.maximumResumableBytes = 200_000
        configuration.downloads.maximumConcurrentDownloads = 32
        configuration.downloads.maximumConcurrentDownloadsPerHost = 32
        configuration.downloads.maximumConnectionsPerHost = 32
        configuration.decoding.memoryBudget = 5 << 19
        configuration.maximumMemoryCacheBytes = 100_000
        configuration.responseCache = try ResponseCache(.init(directory: folder, maximumBytes: 300_000))
        return configuration
    }

    private func round(_ number: Int, _ loader: ImageLoader, _ site: SoakSite) async {
        let end = ContinuousClock.now + roundDuration
        let prefetcher = ImagePrefetcher(loader: loader)
        let seed = seed &* 1_000_003 &+ UInt64(number) &* 1_009
        let watch = Task { await tellOverdue(number, loader, site, end: end) }
        defer { watch.cancel() }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<callers {
                var caller = SoakCaller(
                    loader: loader, prefetcher: prefetcher, site: site, tally: tally,
                    random: SplitMix(seed: seed &+ UInt64(index)))
                group.addTask { await caller.run(until: end) }
            }
            var control = SoakControl(loader: loader, random: SplitMix(seed: seed &+ UInt64(callers)))
            group.addTask { await control.run(until: end) }
        }
        await expect("activity: \(await loader.coordinator.activity)") {
            await loader.coordinator.isAtRest
        }
        await expect("decoder's memory: \(await loader.decoder.memoryInUse)") {
            await loader.decoder.memoryInUse == 0
        }
        await expect("files half written: \(unfinishedFiles)") { unfinishedFiles.isEmpty }
        await expect("requests that the origin is still answering: \(site.origin.counts.runningRequests)") {
            site.origin.counts.runningRequests == 0
        }
        site.gate.open()
    }

    private var unfinishedFiles: Set<String> {
        Set(((try? cacheFiles(folder)) ?? []).filter { $0.hasPrefix("v5/tmp/") })
    }

    /// Reports the activity if the round does not end because a result is missing.
    private func tellOverdue(
        _ number: Int, _ loader: ImageLoader, _ site: SoakSite, end: ContinuousClock.Instant
    ) async {
        guard (try? await Task.sleep(until: end + .seconds(45), clock: .continuous)) != nil else { return }
        tally.find("round \(number) does not end: \(tally.pending)")
        report(
            "round \(number) does not end: \(tally.pending); \(await loader.coordinator.activity), "
                + "downloads \(await loader.coordinator.states), decoder \(await loader.decoder.memoryInUse), "
                + "origin \(site.origin.counts.runningRequests)")
    }

    /// Records a violation unless `condition` becomes true.
    private func expect(_ finding: @autoclosure () async -> String, _ condition: () async throws -> Bool) async {
        if await (try? ProcessState.reaches(condition)) != true { tally.find(await finding()) }
    }
}

extension DownloadCoordinator {
    /// A description of every download.
    fileprivate var states: [String] {
        let states = current { $0.downloads }
        return downloads.values.map { download in
            let state = states[id: download.id]
            return "\(state?.phase.name ?? "closed") \(download.key.url) attempts \(state?.attempts ?? 0) "
                + "callers \(state?.callers.count ?? 0) variants \(state.map { Array($0.decodes.keys) } ?? []) "
                + "log \(download.log.progress) end \(download.log.end != nil)"
        }
    }

    /// A Boolean value that indicates whether no caller waits, nothing runs, and no state is left.
    fileprivate var isAtRest: Bool {
        let activity = activity
        return activity.running == 0 && activity.waiting == 0 && activity.callers == 0 && activity.bytesInFlight == 0
            && downloads.isEmpty && current { $0.downloads.isEmpty && $0.joinable.isEmpty }
    }
}
