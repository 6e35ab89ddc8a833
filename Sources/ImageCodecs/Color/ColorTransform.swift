/// The way of pixels to sRGB, made once for each decode.
///
/// What is asked of a profile is its perceptual rendering, as in browsers: its tables for that, if it has them. Its black
/// stays as dark as the profile says, but for version 4, whose perceptual tables share one black, which becomes sRGB's.
/// Profiles of three lights have no such tables: colors out of sRGB's reach become the nearest number in each channel.
final class ColorTransform {
    private enum Method {
        case lights(LightTables)
        /// The result for each byte of gray, four bytes each.
        case grey([UInt8])
        case profile
        /// The same for samples of 16 bits.
        case deep
        case inks
    }

    private let handle: ColorProfileHandle
    private let method: Method

    /// Nil if the source cannot be used.
    ///
    /// With `tables` it takes longer to make, but less for each pixel. With `isDeep` samples have 16 bits, unless they are
    /// inks.
    init?(_ source: ColorSource, isDeep: Bool = false, tables: Bool) {
        guard let handle = ColorProfileHandle(source) else { return nil }
        if isDeep, handle.kind != .inks {
            guard handle.prepare(isDeep: true, tables: false) else { return nil }
            method = .deep
        } else if let lights = handle.lights {
            method = .lights(lights)
        } else {
            // There are but 256 grays: exact ones make their table.
            guard handle.prepare(tables: tables && handle.kind != .grey) else { return nil }
            switch handle.kind {
            case .grey:
                let shades = (0...255).flatMap { shade in [UInt8](repeating: shade, count: 4) }
                var table = shades
                handle.convert(shades.span, into: &table)
                method = .grey(table)
            case .inks: method = .inks
            case .rgb, .other: method = .profile
            }
        }
        handle.seal()
        self.handle = handle
    }

    /// The maximum number of bytes that one holds, also while it is made, of a profile of so many bytes.
    static func workingBytes(profileBytes: Int) -> Int {
        (1 << 20) + 8 * profileBytes
    }

    /// Bytes that Little CMS holds of it.
    var heldBytes: Int { handle.heldBytes }

    /// A Boolean value that indicates whether it wants the inks of a JPEG as they are stored, four channels and no alpha.
    var takesInks: Bool {
        if case .inks = method { true } else { false }
    }

    /// A Boolean value that indicates whether its samples have 16 bits.
    var isDeep: Bool {
        if case .deep = method { true } else { false }
    }

    /// Converts a row of RGBA, or of inks, into one of RGBA; alpha stays, that of inks is what it was in `result`.
    func convert(_ row: Span<UInt8>, into result: inout [UInt8]) {
        switch method {
        case .lights(let tables): tables.convert(row, into: &result)
        case .inks: handle.convert(row, into: &result)
        case .profile:
            handle.convert(row, into: &result)
            var result = result.mutableSpan
            for alpha in stride(from: 3, to: row.count, by: 4) { result[alpha] = row[alpha] }
        case .deep:
            handle.convert(row, bytesPerPixel: 8, into: &result)
            var result = result.mutableSpan
            for alpha in stride(from: 6, to: row.count, by: 8) {
                result[alpha] = row[alpha]
                result[alpha + 1] = row[alpha + 1]
            }
        case .grey(let table):
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
