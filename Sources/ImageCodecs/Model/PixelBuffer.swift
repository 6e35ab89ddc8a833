/// An image in memory: rows from the top without padding, RGBA with 8 bits per channel and straight (not
/// premultiplied) alpha unless ``format`` differs.
///
/// Decoded colors are sRGB, unless ``DecodeOptions/keepsProfile`` was set.
public struct PixelBuffer: Sendable, Hashable {
    /// The width and height in pixels.
    public let size: PixelSize
    /// The format of the pixels.
    public let format: PixelFormat
    /// The bytes of the pixels, row by row.
    ///
    /// Their number is `width * height * format.bytesPerPixel`. In ``PixelFormat/rgba8``, each pixel consists of red,
    /// green, blue, and alpha.
    public package(set) var bytes: [UInt8]

    /// Creates an image of `bytes`; returns `nil` if their number does not match the size and format.
    public init?(size: PixelSize, bytes: [UInt8], format: PixelFormat = .rgba8) {
        let (count, overflow) = size.area.multipliedReportingOverflow(by: format.bytesPerPixel)
        guard size.width >= 0, size.height >= 0, !overflow, bytes.count == count else { return nil }
        self.size = size
        self.format = format
        self.bytes = bytes
    }

    /// Creates a transparent black image, white if there is no alpha.
    ///
    /// The caller has checked the size against its limits.
    package init(transparent size: PixelSize, format: PixelFormat = .rgba8) {
        self.init(withoutRows: size, format: format)
        clearMissingRows()
    }

    /// Creates an image without rows: append their bytes.
    ///
    /// The caller has checked the size against its limits.
    package init(withoutRows size: PixelSize, format: PixelFormat) {
        self.size = size
        self.format = format
        bytes = []
    }

    /// The number of bytes of all rows.
    private var wholeByteCount: Int { size.area * format.bytesPerPixel }

    /// Allocates memory for all rows, or takes it from `memory`; there are no rows yet.
    mutating func reserveRows(from memory: (any PixelMemory)?) {
        if let memory { bytes = memory.take(capacity: wholeByteCount) }
        bytes.reserveCapacity(wholeByteCount)
    }

    /// Appends missing rows, transparent black or, if there is no alpha, white.
    mutating func clearMissingRows() {
        guard bytes.count < wholeByteCount else { return }
        bytes.reserveCapacity(wholeByteCount)
        let missing: UInt8 = format == .gray8 ? 255 : 0
        var pages = PageSupply()
        while bytes.count < wholeByteCount {
            let count = min(PageSupply.step, wholeByteCount - bytes.count)
            pages.prepare(bytes, toAppend: count)
            bytes.append(addingCapacity: count) { $0.append(repeating: missing, count: count) }
        }
    }

    /// The number of columns.
    public var width: Int { size.width }
    /// The number of rows.
    public var height: Int { size.height }
    /// The number of bytes in a row.
    public var rowBytes: Int { width * format.bytesPerPixel }

    /// The pixel in column `x` of row `y`: red, green, blue, and straight alpha, rounded to 8 bits.
    ///
    /// Traps if the pixel is outside the image.
    public subscript(x: Int, y: Int) -> (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
        precondition(x >= 0 && x < width && y >= 0 && y < height, "pixel (\(x), \(y)) outside \(size)")
        return format.load(bytes.span, at: (y * width + x) * format.bytesPerPixel)
    }

    /// A Boolean value that indicates whether no pixel is transparent.
    public var isOpaque: Bool {
        switch format {
        case .gray8: true
        case .rgba16: stride(from: 6, to: bytes.count, by: 8).allSatisfy { bytes[$0] == 255 && bytes[$0 + 1] == 255 }
        default: stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 }
        }
    }
}
