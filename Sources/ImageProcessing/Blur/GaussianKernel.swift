import CResampling
import Glibc
import ImageCodecs

/// The weights of a Gaussian blur, which is calculated in two steps if it is strong.
///
/// A blurred image has no fine details, so it is calculated only for every n-th pixel in each direction (``step``), by
/// a Gaussian that is a little narrower. A second one enlarges that image: the variances of both add up to the one of
/// the blur. This takes the same time for every blur, and differs from the direct calculation by less than a tenth of
/// a byte step, because a step of half the standard deviation loses nothing.
struct GaussianKernel {
    /// The distance between calculated pixels.
    let step: Int
    /// The weights of the source pixels around a calculated one: an odd number, with the sum 1.
    let narrowing: [Float]
    /// For each of the calculated pixels around the target pixels between two of them, the weights of `step` target
    /// pixels.
    let widening: [[Float]]

    /// The number of calculated pixels to the left of the target pixels, or above them, that contribute to these.
    static let before = 2
    /// The number of calculated pixels that contribute to a target pixel.
    static let taps = Int(CRESAMPLING_SPREAD_TAPS)
    /// The number of standard deviations after which weights are left out: less than a twentieth of a percent.
    private static let reach = 3.5
    /// The standard deviation of the second Gaussian in steps.
    private static let wideningDeviation = 0.7

    /// Creates a kernel with the standard deviation `sigma`, in pixels.
    init(sigma: Double) {
        let step = max(1, Int(sigma / 2))
        self.step = step
        guard step > 1 else {
            narrowing = Self.weights(sigma: sigma)
            widening = []
            return
        }
        let second = Self.wideningDeviation * Double(step)
        narrowing = Self.weights(sigma: (sigma * sigma - second * second).squareRoot())
        var widening = [[Float]](repeating: [], count: Self.taps)
        for phase in 0..<step {
            let distances = (0..<Self.taps).map { Double(phase) / Double(step) - Double($0 - Self.before) }
            let weights = distances.map { distance in
                let deviations = distance / Self.wideningDeviation
                return abs(deviations) <= Self.reach ? exp(-deviations * deviations / 2) : 0
            }
            let sum = weights.reduce(0, +)
            for tap in 0..<Self.taps { widening[tap].append(Float(weights[tap] / sum)) }
        }
        self.widening = widening
    }

    private static func weights(sigma: Double) -> [Float] {
        let radius = max(1, Int((reach * sigma).rounded(.up)))
        let weights = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = weights.reduce(0, +)
        return weights.map { Float($0 / sum) }
    }

    /// Returns the number of calculated pixels for a line of `length` pixels.
    func count(for length: Int) -> Int { step == 1 ? length : (length - 1) / step + Self.taps }

    /// The position of the first calculated pixel.
    var first: Int { step == 1 ? 0 : -Self.before * step }

    /// Returns the maximum memory for blurring an image of `size`, in bytes, with a kernel of standard deviation `sigma`.
    static func workingBytes(sigma: Double, _ size: PixelSize) -> Int {
        let step = max(1, Int(sigma / 2))
        let count = size.width / step + taps
        let weights = 2 * Int(reach * sigma + 2) + 1
        let columns = min(weights, size.width)
        // The tables of columns, the windows of rows, and rows in different forms.
        return count * (columns * 10 + 40) + FixedPointColumns.workingBytes(taps: columns, target: count)
            + (min(weights, size.height) + taps + 2) * count * 16 + size.width * 48 + taps * step * 40
            + weights * 24
    }
}
