#if TIFF
import ImageCodecs

/// A sample of 8 or 16 bits.
protocol TIFFSample: FixedWidthInteger, UnsignedInteger, Sendable {
    /// Reads samples of this width, in the byte order of the machine.
    static func copy(_ bytes: Span<UInt8>, count: Int, to samples: inout [Self], from first: Int, step: Int)
    /// Passes the pixels of a row to `rows`.
    static func append(_ row: Span<Self>, to rows: inout ImageRows) throws(CodecError)
}

extension UInt8: TIFFSample {
    static func copy(_ bytes: Span<UInt8>, count: Int, to samples: inout [UInt8], from first: Int, step: Int) {
        var samples = samples.mutableSpan
        for index in 0..<count { samples[first + index * step] = bytes[index] }
    }

    static func append(_ row: Span<UInt8>, to rows: inout ImageRows) throws(CodecError) { try rows.append(row) }
}

extension UInt16: TIFFSample {
    static func copy(_ bytes: Span<UInt8>, count: Int, to samples: inout [UInt16], from first: Int, step: Int) {
        for index in 0..<count {
            let sample = UInt16(bytes[index * 2]) | UInt16(bytes[index * 2 + 1]) << 8
            samples[first + index * step] = sample.littleEndian
        }
    }

    static func append(_ row: Span<UInt16>, to rows: inout ImageRows) throws(CodecError) { try rows.append(row) }
}

/// Converts the samples of a row to straight RGBA: with 8 bits, or with 16 if they have more than 8.
struct TIFFSamples<Sample: TIFFSample> {
    private let layout: TIFFLayout
    private let palette: [UInt8]
    /// The samples of a row or of a part of it, pixel by pixel, as stored.
    private var samples: [Sample]
    private let channels: Int

    /// Creates a converter of up to `width` pixels at a time.
    init(_ layout: TIFFLayout, palette: [UInt8], width: Int) {
        self.layout = layout
        self.palette = palette
        channels = layout.isPlanar ? layout.planeCount : layout.samplesPerPixel
        samples = [Sample](repeating: 0, count: width * channels)
    }

    /// Takes the samples of `count` pixels of a plane, or all samples of them if there is only one.
    mutating func unpack(_ bytes: Span<UInt8>, plane: Int, count: Int) {
        let (count, step) = (count * layout.samplesPerUnit, layout.isPlanar ? channels : 1)
        guard !layout.isFloatingPoint else {
            let width = layout.bits / 8
            for index in 0..<count {
                let value = TIFFFloats.value(in: bytes, at: index * width, width: width)
                samples[plane + index * step] = Sample(truncatingIfNeeded: Int((value * 65_535).rounded()))
            }
            return
        }
        guard layout.bits != Sample.bitWidth else {
            return Sample.copy(bytes, count: count, to: &samples, from: plane, step: step)
        }
        // The first sample is in the high bits.
        let mask = 1 << layout.bits - 1
        var (held, heldBits, next) = (0, 0, 0)
        for index in 0..<count {
            while heldBits < layout.bits {
                held = (held << 8 | Int(bytes[next])) & 0xFF_FFFF
                heldBits += 8
                next += 1
            }
            heldBits -= layout.bits
            samples[plane + index * step] = Sample(truncatingIfNeeded: held >> heldBits & mask)
        }
    }

    /// Stores the first `count` pixels that have been unpacked, from pixel `first` of `pixels` on.
    func convert(_ count: Int, into pixels: inout [Sample], at first: Int) {
        if case .rgb = layout.colors, layout.alpha == .none, layout.readBits == Sample.bitWidth {
            return copy(count, into: &pixels, at: first)
        }
        let maximum = Int(Sample.max)
        let stored = 1 << layout.readBits - 1
        var (from, to) = (0, first * 4)
        for _ in 0..<count {
            let (red, green, blue): (Sample, Sample, Sample)
            switch layout.colors {
            case .gray(let isInverted):
                let value = scaled(samples[from])
                let gray = isInverted ? Sample.max - value : value
                (red, green, blue) = (gray, gray, gray)
            case .palette:
                let entry = Int(samples[from]) * 3
                (red, green, blue) = (
                    Sample(truncatingIfNeeded: palette[entry]), Sample(truncatingIfNeeded: palette[entry + 1]),
                    Sample(truncatingIfNeeded: palette[entry + 2])
                )
            case .rgb:
                (red, green, blue) = (scaled(samples[from]), scaled(samples[from + 1]), scaled(samples[from + 2]))
            case .cmyk, .converted:
                let light = stored - Int(samples[from + 3])
                func channel(_ offset: Int) -> Sample {
                    let value = light * (stored - Int(samples[from + offset])) / stored
                    return Sample(truncatingIfNeeded: value * maximum / stored)
                }
                (red, green, blue) = (channel(0), channel(1), channel(2))
            }
            switch layout.alpha {
            case .none:
                (pixels[to], pixels[to + 1], pixels[to + 2], pixels[to + 3]) = (red, green, blue, .max)
            case .straight:
                let alpha = scaled(samples[from + layout.colorCount])
                (pixels[to], pixels[to + 1], pixels[to + 2], pixels[to + 3]) = (red, green, blue, alpha)
            case .premultiplied:
                let alpha = scaled(samples[from + layout.colorCount])
                pixels[to] = Self.divided(red, by: alpha)
                pixels[to + 1] = Self.divided(green, by: alpha)
                pixels[to + 2] = Self.divided(blue, by: alpha)
                pixels[to + 3] = alpha
            }
            from += channels
            to += 4
        }
    }

    /// Stores pixels that need no conversion, as most files have them, in less time than ``convert(_:into:at:)``.
    private func copy(_ count: Int, into pixels: inout [Sample], at first: Int) {
        let samples = samples.span
        var pixels = pixels.mutableSpan
        var (from, to) = (0, first * 4)
        for _ in 0..<count {
            pixels[to] = samples[from]
            pixels[to + 1] = samples[from + 1]
            pixels[to + 2] = samples[from + 2]
            pixels[to + 3] = .max
            from += channels
            to += 4
        }
    }

    /// Returns a stored sample with all bits of `Sample`.
    private func scaled(_ sample: Sample) -> Sample {
        guard layout.readBits != Sample.bitWidth else { return sample }
        return Sample(truncatingIfNeeded: Int(sample) * Int(Sample.max) / (1 << layout.bits - 1))
    }

    private static func divided(_ color: Sample, by alpha: Sample) -> Sample {
        guard alpha > 0, alpha < .max else { return color }
        return Sample(clamping: (Int(color) * Int(Sample.max) + Int(alpha) / 2) / Int(alpha))
    }
}
#endif
