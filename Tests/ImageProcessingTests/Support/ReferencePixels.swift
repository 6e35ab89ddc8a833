import ImageCodecs
import ImageProcessing
import Testing

/// An image in double precision: red, green, blue, and alpha from 0 to 255, premultiplied.
struct ReferencePixels {
    let width: Int
    let height: Int
    var pixels: [SIMD4<Double>]

    init(width: Int, height: Int, pixels: [SIMD4<Double>]) {
        (self.width, self.height, self.pixels) = (width, height, pixels)
    }

    /// Reads an image of any format but those that are not exact in 8 bits.
    init(_ image: PixelBuffer) {
        (width, height) = (image.width, image.height)
        pixels = (0..<image.size.area).map { index in
            let bytes = image.bytes
            func byte(_ channel: Int) -> Double { Double(bytes[index * image.format.bytesPerPixel + channel]) }
            func wide(_ channel: Int) -> Double {
                let offset = index * 8 + channel * 2
                return Double(UInt16(littleEndian: UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8)) / 257
            }
            func premultiplied(_ red: Double, _ green: Double, _ blue: Double, _ alpha: Double) -> SIMD4<Double> {
                SIMD4(red * alpha / 255, green * alpha / 255, blue * alpha / 255, alpha)
            }
            return switch image.format {
            case .rgba8: premultiplied(byte(0), byte(1), byte(2), byte(3))
            case .bgra8: premultiplied(byte(2), byte(1), byte(0), byte(3))
            case .rgba8Premultiplied: SIMD4(byte(0), byte(1), byte(2), byte(3))
            case .bgra8Premultiplied: SIMD4(byte(2), byte(1), byte(0), byte(3))
            case .gray8: SIMD4(byte(0), byte(0), byte(0), 255)
            case .rgba16: premultiplied(wide(0), wide(1), wide(2), wide(3))
            }
        }
    }

    /// The pixel in column `x` of row `y`; outside, that of the nearest edge.
    subscript(x: Int, y: Int) -> SIMD4<Double> {
        pixels[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)]
    }

    /// Returns the image with each pixel changed.
    func map(_ change: (SIMD4<Double>, _ x: Int, _ y: Int) -> SIMD4<Double>) -> ReferencePixels {
        var result = self
        for y in 0..<height {
            for x in 0..<width { result.pixels[y * width + x] = change(pixels[y * width + x], x, y) }
        }
        return result
    }

    /// Returns the image in front of white if the format has no alpha, and gray.
    func shown(in format: PixelFormat) -> ReferencePixels {
        guard format == .gray8 else { return self }
        return map { pixel, _, _ in
            let opaque = pixel + SIMD4(repeating: 255 - pixel.w)
            let luma = (19_595 * opaque.x + 38_470 * opaque.y + 7_471 * opaque.z) / 65_536
            return SIMD4(luma, luma, luma, 255)
        }
    }
}

/// Expects each pixel to differ from the reference by at most one 255th in each component, premultiplied.
func expect(
    _ image: PixelBuffer, matches reference: ReferencePixels, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(
        image.size == PixelSize(width: reference.width, height: reference.height), comment,
        sourceLocation: sourceLocation)
    guard image.size.area == reference.pixels.count else { return }
    let reference = reference.shown(in: image.format)
    let difference = zip(ReferencePixels(image).pixels, reference.pixels).map { actual, expected in
        let difference = actual - expected
        return max(difference.max(), -difference.min())
    }
    let most = difference.max() ?? 0
    #expect(
        most <= 1, "\(comment ?? "") differs by \(most) at pixel \(difference.firstIndex(of: most) ?? 0)",
        sourceLocation: sourceLocation)
}

/// Images of every format, opaque and translucent, and of sizes at which algorithms have special cases.
enum Samples {
    static let sizes = [(1, 1), (1, 9), (7, 1), (2, 2), (23, 17), (40, 33)].map { PixelSize(width: $0.0, height: $0.1) }

    /// Returns noise of `size`, with all degrees of transparency unless it is opaque.
    static func noise(_ size: PixelSize, _ format: PixelFormat = .rgba8, isOpaque: Bool = false) -> PixelBuffer {
        var state: UInt64 = 42
        var bytes: [UInt8] = []
        for _ in 0..<size.area {
            for channel in 0..<4 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let value = UInt8(truncatingIfNeeded: state >> 40)
                bytes.append(channel == 3 ? (isOpaque ? 255 : value < 40 ? 0 : value > 200 ? 255 : value) : value)
            }
        }
        return (PixelBuffer(size: size, bytes: bytes) ?? PixelBuffer(transparent: size)).converted(to: format)
    }

    /// Returns noise of `size` with 16 bits per channel, of which 8 bits tell nothing about the others.
    static func wideNoise(_ size: PixelSize) -> PixelBuffer {
        var state: UInt64 = 7
        let bytes = (0..<size.area * 8).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 40)
        }
        return PixelBuffer(size: size, bytes: bytes, format: .rgba16) ?? PixelBuffer(transparent: size)
    }

    /// Noise in all formats and sizes.
    static var all: [PixelBuffer] {
        PixelFormat.allCases.flatMap { format in
            sizes.flatMap { size in [true, false].map { noise(size, format, isOpaque: $0) } }
        }
    }
}

extension PixelBuffer {
    /// Returns the image after one transformation.
    func applying(_ transformation: ImageTransformation) throws -> PixelBuffer { try applying([transformation]) }

    /// Returns the stored bytes of the pixel in column `x` of row `y`.
    func storedBytes(_ x: Int, _ y: Int) -> ArraySlice<UInt8> {
        let start = (y * width + x) * format.bytesPerPixel
        return bytes[start..<start + format.bytesPerPixel]
    }
}
