#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// How pixels are weighted when an image is made smaller or larger.
public struct Resampling: Sendable, Hashable {
    /// The weights.
    public var filter: Filter
    /// Whether light is averaged instead of the numbers that stand for it.
    ///
    /// Keeps fine bright detail, such as stars, as bright as it is; takes a little longer. Colours count as sRGB.
    public var usesLinearLight: Bool

    /// Lanczos-3 on the numbers as stored, as most programs do, unless told otherwise.
    public init(filter: Filter = .lanczos3, usesLinearLight: Bool = false) {
        self.filter = filter
        self.usesLinearLight = usesLinearLight
    }

    /// The weight of a pixel by its distance.
    ///
    /// All are stretched when an image is made smaller, so that every pixel of the original counts.
    public enum Filter: String, Sendable, Hashable, CaseIterable {
        /// A sinc in a window of three lobes: the sharpest, with faint halos along hard edges.
        case lanczos3
        /// The cubic of Mitchell and Netravali (B and C one third): hardly any halo, a little softer.
        case mitchell
        /// The cubic of Catmull and Rom (B zero, C one half): nearly as sharp as Lanczos with a third fewer weights.
        case catmullRom = "catmull-rom"
        /// Linear interpolation, and its stretched form: soft, no halo.
        case triangle
        /// The mean of the area that a pixel covers: the cheapest; enlarged pixels stay squares.
        case box
    }
}

extension Resampling.Filter {
    /// How many source samples to either side of its centre a target sample looks at, where it covers `ratio` of them.
    func reach(ratio: Double) -> Double {
        switch self {
        case .lanczos3: 3 * max(ratio, 1)
        case .mitchell, .catmullRom: 2 * max(ratio, 1)
        case .triangle: max(ratio, 1)
        case .box: (ratio + 1) / 2
        }
    }

    /// The weight, up to a common factor, of the source sample `distance` samples from the centre; 0 beyond the reach.
    func weight(distance: Double, ratio: Double) -> Double {
        let x = abs(distance) / max(ratio, 1)
        return switch self {
        case .lanczos3: Self.lanczos(x)
        case .mitchell: Self.cubic(x, b: 1.0 / 3, c: 1.0 / 3)
        case .catmullRom: Self.cubic(x, b: 0, c: 0.5)
        case .triangle: max(0, 1 - x)
        case .box: min(1, ratio, max(0, (ratio + 1) / 2 - abs(distance)))  // how much of the sample is covered
        }
    }

    private static func lanczos(_ x: Double) -> Double {
        if x < 1e-9 { return 1 }
        if x >= 3 { return 0 }
        let angle = Double.pi * x
        return 3 * sin(angle) * sin(angle / 3) / (angle * angle)
    }

    /// Mitchell and Netravali, "Reconstruction Filters in Computer Graphics", 1988, equation 8.
    private static func cubic(_ x: Double, b: Double, c: Double) -> Double {
        if x >= 2 { return 0 }
        if x >= 1 {
            return (((-b - 6 * c) * x + 6 * b + 30 * c) * x - 12 * b - 48 * c) * x + 8 * b + 24 * c
        }
        return ((12 - 9 * b - 6 * c) * x - 18 + 12 * b + 6 * c) * x * x + 6 - 2 * b
    }
}
