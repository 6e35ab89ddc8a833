import CoreMetrics

/// Records metrics of decodes and of other work on the threads and in the memory of a decoder.
final class DecodeMetrics: Sendable {
    private let finished: Timer
    private let failed: Timer
    private let memoryWait: Timer
    private let work: Timer

    init(_ configuration: MetricsConfiguration) {
        func timer(_ name: String, _ dimensions: [(String, String)] = []) -> Timer {
            Timer(
                label: "webimage_\(name)_seconds", dimensions: configuration.dimensions + dimensions,
                factory: configuration.factory)
        }
        finished = timer("decode_duration", [("outcome", "finished")])
        failed = timer("decode_duration", [("outcome", "failed")])
        memoryWait = timer("decode_memory_wait")
        work = timer("decoder_work")
    }

    func recordDecode(since start: ContinuousClock.Instant, isFinished: Bool) {
        (isFinished ? finished : failed).record(start.duration(to: .now))
    }

    func recordMemoryWait(since start: ContinuousClock.Instant) { memoryWait.record(start.duration(to: .now)) }

    func recordWork(since start: ContinuousClock.Instant) { work.record(start.duration(to: .now)) }
}
