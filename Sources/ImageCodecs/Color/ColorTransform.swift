/// A transform of pixels to sRGB, created once for each decode.
///
/// Uses the perceptual rendering intent, like browsers, with the profile's tables for it if there are any. Black
/// stays as dark as the profile defines it, except for version 4 profiles, whose perceptual tables share one black
/// point, which is mapped to that of sRGB. Matrix profiles have no such tables: colors outside the sRGB gamut are
/// clipped per channel.
final class ColorTransform {
    private enum Method {
        case matrixShaper(MatrixShaper)
        /// A table with the result for each gray value, four bytes each.
        case gray([UInt8])
        case profile
        /// A transform for 16-bit samples.
        case sixteenBit
        /// The same, less exact than 16 bits, but more than 8.
        case deepMatrixShaper(MatrixShaper)
        case cmyk
    }

    private let handle: ColorProfileHandle
    private let method: Method

    /// Creates a transform; returns `nil` if the source cannot be used.
    ///
    /// With `tables`, creation takes longer, but each pixel takes less time. With `is16Bit`, samples have 16 bits,
    /// unless they are CMYK; with `isRounded`, those of the result will be rounded to 8.
    init?(_ source: ColorSource, is16Bit: Bool = false, isRounded: Bool = false, tables: Bool) {
        guard let handle = ColorProfileHandle(source) else { return nil }
        if is16Bit, isRounded, let shaper = handle.matrixShaper {
            method = .deepMatrixShaper(shaper)
        } else if is16Bit, handle.kind != .cmyk {
            guard handle.prepare(is16Bit: true, tables: false) else { return nil }
            method = .sixteenBit
        } else if let shaper = handle.matrixShaper {
            method = .matrixShaper(shaper)
        } else {
            // There are only 256 grays: compute their table exactly.
            guard handle.prepare(tables: tables && handle.kind != .gray) else { return nil }
            switch handle.kind {
            case .gray:
                let shades = (0...255).flatMap { shade in [UInt8](repeating: shade, count: 4) }
                var table = shades
                handle.convert(shades.span, into: &table)
                method = .gray(table)
            case .cmyk: method = .cmyk
            case .rgb, .other: method = .profile
            }
        }
        handle.seal()
        self.handle = handle
    }

    /// Returns the maximum memory that a transform holds, including during its creation, in bytes, for a profile of
    /// `profileBytes` bytes.
    static func workingBytes(profileBytes: Int) -> Int {
        (1 << 20) + 8 * profileBytes
    }

    /// The memory held by Little CMS for this transform, in bytes.
    var memoryUsage: Int { handle.memoryUsage }

    /// A Boolean value that indicates whether the transform takes the CMYK samples of a JPEG as stored: four channels
    /// and no alpha.
    var acceptsCMYK: Bool {
        if case .cmyk = method { true } else { false }
    }

    /// A Boolean value that indicates whether samples have 16 bits.
    var is16Bit: Bool {
        switch method {
        case .sixteenBit, .deepMatrixShaper: true
        case .matrixShaper, .gray, .profile, .cmyk: false
        }
    }

    /// Converts a row of RGBA or CMYK pixels to RGBA.
    ///
    /// Alpha is unchanged; for CMYK it keeps its value in `result`.
    func convert(_ row: Span<UInt8>, into result: inout [UInt8]) {
        switch method {
        case .matrixShaper(let shaper): shaper.convert(row, into: &result)
        case .deepMatrixShaper(let shaper): shaper.convertDeep(row, into: &result)
        case .cmyk: handle.convert(row, into: &result)
        case .profile:
            handle.convert(row, into: &result)
            var result = result.mutableSpan
            for alpha in stride(from: 3, to: row.count, by: 4) { result[alpha] = row[alpha] }
        case .sixteenBit:
            handle.convert(row, bytesPerPixel: 8, into: &result)
            var result = result.mutableSpan
            for alpha in stride(from: 6, to: row.count, by: 8) {
                result[alpha] = row[alpha]
                result[alpha + 1] = row[alpha + 1]
            }
        case .gray(let table):
            let table = table.span
            var result = result.mutableSpan
            for pixel in stride(from: 0, to: row.count, by: 4) {
                let shade = Int(row[pixel]) * 4
                for channel in 0..<3 { result[pixel + channel] = table[shade + channel] }
                result[pixel + 3] = row[pixel + 3]
            }
        }
    }
}
