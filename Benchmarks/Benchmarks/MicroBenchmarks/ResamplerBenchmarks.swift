import Benchmark
@testable import ImageCodecs

/// The cost of resampling a row of 1,000 pixels, including its share of the resulting rows.
enum ResamplerBenchmarks {
    static func register() {
        for filter in Resampling.Filter.allCases {
            for side in [125, 500, 750, 2_000] {
                resample(to: side, Resampling(filter: filter), "Resample_\(filter)_1000_to_\(side)")
            }
        }
        resample(to: 500, Resampling(usesLinearLight: true), "Resample_lanczos3_1000_to_500_linear_light")
        resample(to: 500, Resampling(), hasAlpha: true, "Resample_lanczos3_1000_to_500_alpha")
    }

    private static func resample(to side: Int, _ resampling: Resampling, hasAlpha: Bool = false, _ name: String) {
        var pixels = PixelBuffer(transparent: PixelSize(width: 0, height: 0))
        Benchmark(name, configuration: .thousandSteps) { benchmark in
            let resampler = BandResampler(
                from: pixels.size, to: PixelSize(width: side, height: side), resampling: resampling,
                hasAlpha: hasAlpha, sink: RowDrain())
            let rowBytes = pixels.width * 4
            benchmark.startMeasurement()
            for row in benchmark.scaledIterations {
                resampler.append(row: pixels.bytes.span.extracting(row * rowBytes..<(row + 1) * rowBytes))
            }
        } setup: {
            pixels = try Picture.pixels(side: 1_000)
        }
    }
}
