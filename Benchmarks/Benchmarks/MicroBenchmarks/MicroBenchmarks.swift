import Benchmark

/// The benchmarks of single steps in the library, without network and disk.
///
/// Every run performs 1,000 steps, and the results are scaled to one key, download, caller, or row.
let benchmarks = { @Sendable () -> Void in
    KeyBenchmarks.register()
    QueueBenchmarks.register()
    FanOutBenchmarks.register()
    ResamplerBenchmarks.register()
    CodecBenchmarks.register()
}

extension Benchmark.Configuration {
    /// The configuration with 1,000 steps per run, and as many runs as half a second allows.
    static var thousandSteps: Self { thousandSteps([.wallClock, .objectAllocCount]) }

    /// Returns the same configuration with only these metrics.
    static func thousandSteps(_ metrics: [BenchmarkMetric]) -> Self {
        Self(
            metrics: metrics, warmupIterations: 3, scalingFactor: .kilo,
            maxDuration: .milliseconds(500))
    }
}
