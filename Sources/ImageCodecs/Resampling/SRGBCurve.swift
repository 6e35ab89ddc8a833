import Glibc

/// The transfer function of sRGB (IEC 61966-2-1) as tables: from byte values to linear light, 0 to 1, and back.
struct SRGBCurve {
    /// The linear light of each byte value.
    let light: [Float]
    /// The minimum light that is rounded to each byte value; there is none beyond the last.
    private let least: [Float]
    /// The byte value at the start of each of 4096 equal steps of light; no step spans three byte values.
    private let bytes: [UInt8]

    private static let steps: Float = 4096

    /// The shared tables.
    static let shared = SRGBCurve()

    private init() {
        light = (0...255).map { Float(Self.light(Double($0) / 255)) }
        let least = (0...256).map { $0 == 0 ? 0 : $0 == 256 ? .infinity : Float(Self.light((Double($0) - 0.5) / 255)) }
        self.least = least
        var byte = 0
        bytes = (0...Int(Self.steps)).map { step in
            while least[byte + 1] <= Float(step) / Self.steps { byte += 1 }
            return UInt8(byte)
        }
    }

    /// Returns the byte values nearest to three linear values, which can be slightly below 0 or above 1; the fourth
    /// value is unchanged.
    @inline(__always)
    func bytes(of linear: SIMD4<Float>) -> SIMD4<Float> {
        let clamped = linear.clamped(lowerBound: .zero, upperBound: .one)
        return SIMD4(byte(of: clamped.x), byte(of: clamped.y), byte(of: clamped.z), linear.w)
    }

    @inline(__always)
    private func byte(of light: Float) -> Float {
        let byte = bytes[Int(light * Self.steps)]
        return Float(light >= least[Int(byte) + 1] ? byte + 1 : byte)
    }

    /// Returns the linear values of three samples from 0 to `most`; the fourth value is unchanged.
    static func linearValues(of samples: SIMD4<Float>, most: Float) -> SIMD4<Float> {
        func light(_ sample: Float) -> Float { Float(Self.light(Double(sample / most))) }
        return SIMD4(light(samples.x), light(samples.y), light(samples.z), samples.w)
    }

    /// Returns samples from 0 to `most` for three linear values, which can be slightly below 0 or above 1; the fourth
    /// value is unchanged.
    static func samples(of linear: SIMD4<Float>, most: Float) -> SIMD4<Float> {
        let clamped = linear.clamped(lowerBound: .zero, upperBound: .one)
        func sample(_ light: Float) -> Float {
            let value = Double(light)
            return Float(value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055) * most
        }
        return SIMD4(sample(clamped.x), sample(clamped.y), sample(clamped.z), linear.w)
    }

    private static func light(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
}
