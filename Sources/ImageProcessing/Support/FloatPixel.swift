import ImageCodecs

/// Red, green, blue, and alpha from 0 to 255, with colors premultiplied by alpha.
typealias FloatPixel = SIMD4<Float>

extension FloatPixel {
    /// Creates the premultiplied pixel of a color.
    init(_ color: PixelColor) {
        self.init(straight: FloatPixel(Float(color.red), Float(color.green), Float(color.blue), Float(color.alpha)))
    }

    /// Creates the premultiplied pixel of a straight one.
    @inline(__always)
    init(straight pixel: FloatPixel) {
        self = pixel * (pixel.w * (1 / 255))
        w = pixel.w
    }

    /// The straight pixel; without colors if alpha rounds to zero.
    @inline(__always)
    var straight: FloatPixel {
        guard w < 255 else { return self }
        guard w >= 0.001 else { return .zero }
        var pixel = self * (255 / w)
        pixel.w = w
        return pixel
    }

    /// Returns this pixel in front of another.
    @inline(__always)
    func over(_ other: FloatPixel) -> FloatPixel { self + other * (1 - w * (1 / 255)) }

    /// The pixel with each color between 0 and alpha.
    @inline(__always)
    var validated: FloatPixel {
        let alpha = Swift.min(Swift.max(w, 0), 255)
        var pixel = clamped(lowerBound: .zero, upperBound: FloatPixel(repeating: alpha))
        pixel.w = alpha
        return pixel
    }
}

extension PixelFormat {
    /// Reads the pixels of `bytes` into the beginning of `pixels`, which has room for them.
    func read(_ bytes: Span<UInt8>, into pixels: inout [FloatPixel]) {
        let count = bytes.count / bytesPerPixel
        switch self {
        case .gray8:
            for x in 0..<count {
                pixels[x] = FloatPixel(repeating: Float(bytes[x]))
                pixels[x].w = 255
            }
        case .rgba16:
            for x in 0..<count {
                func sample(_ channel: Int) -> Float {
                    Float(bytes.sample(at: x * 8 + channel * 2)) * (1 / 257)
                }
                pixels[x] = FloatPixel(straight: FloatPixel(sample(0), sample(1), sample(2), sample(3)))
            }
        case .rgba8:
            for x in 0..<count {
                let pixel = bytes.floats(at: x * 4)
                pixels[x] = pixel.w == 255 ? pixel : FloatPixel(straight: pixel)
            }
        case .bgra8:
            for x in 0..<count { pixels[x] = FloatPixel(straight: bytes.floats(at: x * 4).swapped) }
        case .rgba8Premultiplied:
            for x in 0..<count { pixels[x] = bytes.floats(at: x * 4) }
        case .bgra8Premultiplied:
            for x in 0..<count { pixels[x] = bytes.floats(at: x * 4).swapped }
        }
    }

    /// Writes `pixels` to `bytes` from `start`, where there is room for them; without alpha, over white.
    func write(_ pixels: [FloatPixel], into bytes: inout MutableSpan<UInt8>, at start: Int) {
        let count = pixels.count
        switch self {
        case .gray8:
            for x in 0..<count {
                let pixel = pixels[x].over(FloatPixel(repeating: 255))
                bytes[start + x] = byte(pixel.luma)
            }
        case .rgba16:
            for x in 0..<count {
                let pixel = pixels[x].straight * 257
                for channel in 0..<4 {
                    let sample = UInt16(min(max(pixel[channel], 0), 65_535) + 0.5).littleEndian
                    bytes[start + x * 8 + channel * 2] = UInt8(truncatingIfNeeded: sample)
                    bytes[start + x * 8 + channel * 2 + 1] = UInt8(truncatingIfNeeded: sample >> 8)
                }
            }
        case .rgba8: for x in 0..<count { bytes.store(pixels[x].straight, at: start + x * 4) }
        case .bgra8: for x in 0..<count { bytes.store(pixels[x].straight.swapped, at: start + x * 4) }
        case .rgba8Premultiplied: for x in 0..<count { bytes.store(pixels[x], at: start + x * 4) }
        case .bgra8Premultiplied: for x in 0..<count { bytes.store(pixels[x].swapped, at: start + x * 4) }
        }
    }
}

extension FloatPixel {
    /// The luma of BT.601, as in `PixelFormat.gray8`.
    @inline(__always)
    var luma: Float { (x * 19_595 + y * 38_470 + z * 7_471) / 65_536 }

    /// The pixel with red and blue exchanged.
    @inline(__always)
    fileprivate var swapped: FloatPixel { FloatPixel(z, y, x, w) }
}

extension Span<UInt8> {
    @inline(__always)
    fileprivate func floats(at offset: Int) -> FloatPixel {
        FloatPixel(Float(self[offset]), Float(self[offset + 1]), Float(self[offset + 2]), Float(self[offset + 3]))
    }
}

extension MutableSpan<UInt8> {
    @inline(__always)
    fileprivate mutating func store(_ pixel: FloatPixel, at offset: Int) {
        self[offset] = byte(pixel.x)
        self[offset + 1] = byte(pixel.y)
        self[offset + 2] = byte(pixel.z)
        self[offset + 3] = byte(pixel.w)
    }
}

/// Returns the value rounded to a byte.
@inline(__always)
private func byte(_ value: Float) -> UInt8 { UInt8(min(max(value, 0), 255) + 0.5) }
