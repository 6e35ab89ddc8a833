#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The transfer function of sRGB (IEC 61966-2-1), as tables: from bytes to light of 0 to 1, and back.
struct SRGBCurve {
    /// The light of each byte.
    let light: [Float]
    /// The least light that is rounded to each byte; beyond the last there is none.
    private let least: [Float]
    /// For each of 4096 equal steps of light the byte of its beginning; no step is so wide that it has three.
    private let bytes: [UInt8]

    private static let steps: Float = 4096

    /// The tables, made once.
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

    /// The byte nearest to each of three lights, which may be a little below 0 or above 1; the fourth is left alone.
    @inline(__always)
    func bytes(of lights: SIMD4<Float>) -> SIMD4<Float> {
        let clamped = lights.clamped(lowerBound: .zero, upperBound: .one)
        return SIMD4(byte(of: clamped.x), byte(of: clamped.y), byte(of: clamped.z), lights.w)
    }

    @inline(__always)
    private func byte(of light: Float) -> Float {
        let byte = bytes[Int(light * Self.steps)]
        return Float(light >= least[Int(byte) + 1] ? byte + 1 : byte)
    }

    /// The lights of three numbers from 0 to `most`; the fourth is left alone.
    static func lights(of samples: SIMD4<Float>, most: Float) -> SIMD4<Float> {
        func light(_ sample: Float) -> Float { Float(Self.light(Double(sample / most))) }
        return SIMD4(light(samples.x), light(samples.y), light(samples.z), samples.w)
    }

    /// The numbers from 0 to `most` for three lights, which may be a little below 0 or above 1; the fourth is left alone.
    static func samples(of lights: SIMD4<Float>, most: Float) -> SIMD4<Float> {
        let clamped = lights.clamped(lowerBound: .zero, upperBound: .one)
        func sample(_ light: Float) -> Float {
            let value = Double(light)
            return Float(value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055) * most
        }
        return SIMD4(sample(clamped.x), sample(clamped.y), sample(clamped.z), lights.w)
    }

    private static func light(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
}
