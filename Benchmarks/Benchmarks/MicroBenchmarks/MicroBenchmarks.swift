import Benchmark

/// What one step of the library's inner work costs, without a network and without a disk.
///
/// Every run does 1,000 of what it measures and is shown scaled, so that the figures are those of one key, one
/// download, one caller or one row.
let benchmarks = { @Sendable () -> Void in
    KeyBenchmarks.register()
    QueueBenchmarks.register()
    FanOutBenchmarks.register()
    ResamplerBenchmarks.register()
    CodecBenchmarks.register()
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
