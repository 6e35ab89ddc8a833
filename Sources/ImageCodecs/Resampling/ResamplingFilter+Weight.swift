import Glibc

extension Resampling.Filter {
    /// Returns the distance in source samples from its center that a target sample depends on, if it covers `ratio`
    /// of them.
    func reach(ratio: Double) -> Double {
        switch self {
        case .lanczos3: 3 * max(ratio, 1)
        case .mitchell, .catmullRom: 2 * max(ratio, 1)
        case .triangle: max(ratio, 1)
        case .box: (ratio + 1) / 2
        }
    }

    /// Returns the weight, up to a common factor, of the source sample `distance` samples from the center; 0 beyond
    /// the reach.
    func weight(distance: Double, ratio: Double) -> Double {
        let x = abs(distance) / max(ratio, 1)
        return switch self {
        case .lanczos3: Self.lanczos(x)
        case .mitchell: Self.cubic(x, b: 1.0 / 3, c: 1.0 / 3)
        case .catmullRom: Self.cubic(x, b: 0, c: 0.5)
        case .triangle: max(0, 1 - x)
        case .box: min(1, ratio, max(0, (ratio + 1) / 2 - abs(distance)))  // the covered part of the sample
        }
    }

    /// Returns sinc(x) sinc(x/3), with sin 3a = 3 sin a - 4 sin³ a, because sines take most of the time of small images.
    private static func lanczos(_ x: Double) -> Double {
        if x < 1e-9 { return 1 }
        if x >= 3 { return 0 }
        let angle = Double.pi * x / 3
        let sine = sin(angle)
        let square = sine * sine
        return square * (3 - 4 * square) / (3 * angle * angle)
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
