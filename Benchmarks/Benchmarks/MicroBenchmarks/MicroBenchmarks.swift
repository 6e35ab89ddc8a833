import Benchmark

/// The costs of single steps inside the library, without network and disk.
///
/// Every run performs 1,000 steps and is shown scaled, so that the figures are per key, download, caller, or row.
let benchmarks = { @Sendable () -> Void in
    KeyBenchmarks.register()
    QueueBenchmarks.register()
    FanOutBenchmarks.register()
    ResamplerBenchmarks.register()
    CodecBenchmarks.register()
    StoredImageBenchmarks.register()
}

extension Benchmark.Configuration {
    /// A thousand steps a run, as many runs as half a second allows.
    static var thousandSteps: Self { thousandSteps([.wallClock, .objectAllocCount]) }

    /// The same, measuring no more than `metrics`.
    static func thousandSteps(_ metrics: [BenchmarkMetric]) -> Self {
        Self(
            metrics: metrics, warmupIterations: 3, scalingFactor: .kilo,
            maxDuration: .milliseconds(500))
    }
}
