/// An image in memory: rows from the top without padding, of RGBA with 8 bits a channel and straight (not
/// premultiplied) alpha unless ``format`` says otherwise.
///
/// Decoded colors are sRGB, unless ``DecodeOptions/keepsProfile`` left them as the file has them.
public struct PixelBuffer: Sendable, Hashable {
    /// Width and height in pixels.
    public let size: PixelSize
    /// How the pixels are stored.
    public let format: PixelFormat
    /// `width * height * format.bytesPerPixel` bytes: the first pixel of the first row, and so on; of
    /// ``PixelFormat/rgba8`` red, green, blue and alpha of each.
    public package(set) var bytes: [UInt8]

    /// An image over `bytes`, or nil unless there are exactly as many as it takes.
    public init?(size: PixelSize, bytes: [UInt8], format: PixelFormat = .rgba8) {
        let (count, overflow) = size.area.multipliedReportingOverflow(by: format.bytesPerPixel)
        guard size.width >= 0, size.height >= 0, !overflow, bytes.count == count else { return nil }
        self.size = size
        self.format = format
        self.bytes = bytes
    }

    /// A transparent black image, white where there is no alpha, whose size the caller has checked against its limits.
    package init(transparent size: PixelSize, format: PixelFormat = .rgba8) {
        self.size = size
        self.format = format
        bytes = [UInt8](repeating: format == .gray8 ? 255 : 0, count: size.area * format.bytesPerPixel)
    }

    /// Columns.
    public var width: Int { size.width }
    /// Rows.
    public var height: Int { size.height }
    /// The bytes of a row.
    public var rowBytes: Int { width * format.bytesPerPixel }

    /// Red, green, blue and straight alpha, to the nearest of 8 bits, of the pixel in column `x` of row `y`; traps
    /// outside the image.
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
