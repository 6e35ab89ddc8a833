import CoreMetrics
import Threading

/// Records metrics of downloads from their events.
final class DownloadMetrics: Sendable {
    private enum Outcome: String, CaseIterable {
        case finished, failed, cancelled
    }

    /// The state of an active download.
    private struct ActiveDownload {
        let begin: ContinuousClock.Instant
        var isWaiting = true
        /// The start of the current attempt, until its response is received.
        var start: ContinuousClock.Instant?
        var isRunning = false
    }

    private let activeDownloads = Locked<[DownloadID: ActiveDownload]>([:])
    private let started: Counter
    private let ended: [Outcome: Counter]
    /// The counters of failures by code; those of rare statuses are created with the first failure of each.
    ///
    /// A counter that begins with its first failure hides that one from rates.
    private let failures: Locked<[ImageError.Code: Counter]>
    private let makeFailureCounter: @Sendable (ImageError.Code) -> Counter
    private let retries: Counter
    private let bytes: Counter
    private let durations: [Outcome: Timer]
    private let firstByte: Timer
    private let wait: Timer
    private let held: Meter
    private let bytesInFlight: @Sendable () -> Int
    private let running: Meter
    private let waiting: Meter

    /// Creates the metrics; `bytesInFlight` returns the number of bytes that the bodies of all downloads hold.
    init(_ configuration: MetricsConfiguration, bytesInFlight: @escaping @Sendable () -> Int = { 0 }) {
        let (factory, common) = (configuration.factory, configuration.dimensions)
        func counter(_ name: String, _ dimensions: [(String, String)] = []) -> Counter {
            Counter(label: "webimage_\(name)_total", dimensions: common + dimensions, factory: factory)
        }
        func timer(_ name: String, _ dimensions: [(String, String)] = []) -> Timer {
            Timer(label: "webimage_\(name)_seconds", dimensions: common + dimensions, factory: factory)
        }
        started = counter("downloads_started")
        ended = Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map { ($0, counter("downloads", [("outcome", $0.rawValue)])) })
        let makeFailureCounter = { @Sendable code in
            Counter(
                label: "webimage_download_failures_total",
                dimensions: configuration.dimensions + [("code", (code as ImageError.Code).rawValue)],
                factory: configuration.factory)
        }
        self.makeFailureCounter = makeFailureCounter
        let codes = ImageError.Code.declared + ImageError.Code.ofCommonStatuses
        failures = Locked(Dictionary(uniqueKeysWithValues: codes.map { ($0, makeFailureCounter($0)) }))
        retries = counter("download_retries")
        bytes = counter("downloaded_bytes")
        durations = Dictionary(
            uniqueKeysWithValues: [.finished, .failed].map {
                ($0, timer("download_duration", [("outcome", $0.rawValue)]))
            })
        firstByte = timer("download_first_byte")
        wait = timer("download_wait")
        held = Meter(label: "webimage_bytes_in_flight", dimensions: common, factory: factory)
        self.bytesInFlight = bytesInFlight
        running = Meter(label: "webimage_downloads_running", dimensions: common, factory: factory)
        waiting = Meter(label: "webimage_downloads_waiting", dimensions: common, factory: factory)
    }

    /// Records an event.
    ///
    /// Events of one download arrive in order, those of several downloads concurrently.
    func note(_ event: DownloadEvent) {
        switch event.kind {
        case .queued:
            activeDownloads.withLock { $0[event.id] = ActiveDownload(begin: event.time) }
            waiting.increment()
        case .started: start(event)
        case .response:
            let start = activeDownloads.withLock { $0[event.id]?.start.take() }
            if let start { firstByte.record(start.duration(to: event.time)) }
        case .progress: held.set(bytesInFlight())
        case .retrying:
            retries.increment()
            stop(event)
        case .completed(.success(let summary)):
            complete(event, .finished)
            bytes.increment(by: summary.byteCount)
        case .completed(.failure(is CancellationError)): complete(event, .cancelled)
        case .completed(.failure(let error)):
            complete(event, .failed)
            count(Self.code(of: error))
        }
    }

    /// Returns the code of an error; statuses that no server should send have none of their own, because servers would
    /// otherwise choose the values of a dimension.
    private static func code(of error: any Error) -> ImageError.Code {
        if let status = (error as? ImageError)?.httpStatus, !(300..<600).contains(status) { return .other }
        return ImageError.Code(error)
    }

    private func count(_ code: ImageError.Code) {
        failures.withLock { failures in
            let counter = failures[code] ?? makeFailureCounter(code)
            failures[code] = counter
            return counter
        }.increment()
    }

    private func start(_ event: DownloadEvent) {
        let before = activeDownloads.withLock { activeDownloads in
            defer {
                activeDownloads[event.id]?.isWaiting = false
                activeDownloads[event.id]?.isRunning = true
                activeDownloads[event.id]?.start = event.time
            }
            return activeDownloads[event.id]
        }
        guard let before else { return }
        if before.isWaiting {
            waiting.decrement()
            started.increment()
            wait.record(before.begin.duration(to: event.time))
        }
        if !before.isRunning { running.increment() }
    }

    private func stop(_ event: DownloadEvent) {
        let wasRunning = activeDownloads.withLock { activeDownloads in
            defer { activeDownloads[event.id]?.isRunning = false }
            return activeDownloads[event.id]?.isRunning
        }
        if wasRunning == true { running.decrement() }
    }

    private func complete(_ event: DownloadEvent, _ outcome: Outcome) {
        guard let course = activeDownloads.withLock({ $0.removeValue(forKey: event.id) }) else { return }
        if course.isWaiting { waiting.decrement() }
        if course.isRunning { running.decrement() }
        held.set(bytesInFlight())
        ended[outcome]?.increment()
        durations[outcome]?.record(course.begin.duration(to: event.time))
    }
}
