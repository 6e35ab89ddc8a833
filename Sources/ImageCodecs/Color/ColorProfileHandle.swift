import CLCMS

/// The kind of pixels that a profile describes.
enum PixelKind: Sendable {
    case gray, rgb, cmyk, other

    /// Returns whether the image described by `header` has pixels of this kind.
    ///
    /// Gray pixels can also count as color with three equal channels.
    func suits(_ header: ImageHeader) -> Bool {
        switch self {
        case .gray: header.isGray
        case .rgb: header.colorChannels != 4
        case .cmyk: header.colorChannels == 4
        case .other: false
        }
    }
}

/// Owns a profile and a Little CMS transform in a context of their own.
///
/// The only place where Swift and Little CMS exchange pointers. A profile that needs more than ``maximumBytes`` counts as
/// broken.
@safe
struct ColorProfileHandle: ~Copyable {
    /// The maximum memory that a context can hold, in bytes.
    static let maximumBytes = Int(CLCMS_MAXIMUM_BYTES)

    private let converter: OpaquePointer
    let kind: PixelKind

    /// Creates a handle; returns `nil` if there is no profile or it is broken.
    init?(_ source: ColorSource) {
        let converter: OpaquePointer?
        switch source {
        case .profile(let bytes):
            unsafe converter = unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe bytes.baseAddress.flatMap { unsafe clcms_read($0, bytes.count) }
            }
        case .primaries(let space):
            unsafe converter = unsafe Self.describe(space)
        case .sRGB, .unusable: return nil
        }
        guard let converter = unsafe converter else { return nil }
        unsafe self.converter = converter
        kind =
            switch unsafe clcms_kind(converter) {
            case .gray: .gray
            case .rgb: .rgb
            case .cmyk: .cmyk
            case .other: .other
            }
    }

    deinit {
        unsafe clcms_free(converter)
    }

    /// The tone curves and primaries of the profile, if it is a matrix profile; otherwise `nil`.
    var matrixShaper: MatrixShaper? {
        var curves = [Float](repeating: 0, count: 3 * 256)
        var colors = [Float](repeating: 0, count: 3 * 3)
        guard unsafe clcms_primaries_of(converter, &curves, &colors) else { return nil }
        return MatrixShaper(curves: curves, colors: colors)
    }

    /// The profile as an ICC file; `nil` if it cannot be written.
    var bytes: [UInt8]? {
        let count = unsafe clcms_write_profile(converter, nil, 0)
        guard count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return unsafe clcms_write_profile(converter, &bytes, count) == count ? bytes : nil
    }

    /// Prepares ``convert(_:bytesPerPixel:into:)``, with `is16Bit` for 16-bit samples.
    ///
    /// Returns `false` if the profile lacks a required part.
    func prepare(is16Bit: Bool = false, tables: Bool) -> Bool {
        unsafe clcms_prepare(converter, is16Bit ? 2 : 1, tables)
    }

    /// Releases the profile; afterward only conversions are possible.
    func seal() {
        unsafe clcms_seal(converter)
    }

    /// Converts pixels of four samples in the prepared format.
    ///
    /// The fourth sample of each result is left unchanged.
    func convert(_ pixels: Span<UInt8>, bytesPerPixel: Int = 4, into result: inout [UInt8]) {
        precondition(pixels.count <= result.count)
        unsafe pixels.withUnsafeBufferPointer { pixels in
            unsafe result.withUnsafeMutableBufferPointer { result in
                guard let from = pixels.baseAddress, let to = result.baseAddress else { return }
                unsafe clcms_convert(converter, from, to, pixels.count / bytesPerPixel)
            }
        }
    }

    /// The memory currently held, in bytes.
    var memoryUsage: Int { unsafe clcms_held_bytes(converter) }
}

extension ColorProfileHandle {
    private static func describe(_ space: PrimariesSpace) -> OpaquePointer? {
        var primaries = clcms_primaries(space.primaries)
        switch space.curve {
        case .power(let gamma, let a, let b, let c, let d):
            return unsafe clcms_describe(&primaries, [gamma, a, b, c, d], nil, 0, space.name)
        case .highDynamicRange(let encoding):
            let table = encoding.table
            return unsafe clcms_describe(&primaries, nil, table, table.count, space.name)
        }
    }
}

extension clcms_primaries {
    fileprivate init(_ primaries: PrimariesSpace.Primaries) {
        func place(_ place: PrimariesSpace.Chromaticity) -> clcms_chromaticity { .init(x: place.x, y: place.y) }
        self.init(
            white: place(primaries.white), red: place(primaries.red), green: place(primaries.green),
            blue: place(primaries.blue))
    }
}
