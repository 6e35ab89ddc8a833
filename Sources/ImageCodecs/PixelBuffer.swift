/// An image in memory: RGBA, 8 bits a channel, straight (not premultiplied) alpha, rows from the top without padding.
///
/// Colours are as the file has them, which is sRGB for nearly all files without a profile; profiles are not applied.
public struct PixelBuffer: Sendable, Hashable {
    /// Width and height in pixels.
    public let size: PixelSize
    /// `width * height * 4` bytes: red, green, blue, alpha of the first pixel of the first row, and so on.
    public internal(set) var bytes: [UInt8]

    /// An image over `bytes`, or nil unless there are exactly `width * height * 4` of them.
    public init?(size: PixelSize, bytes: [UInt8]) {
        let (count, overflow) = size.area.multipliedReportingOverflow(by: 4)
        guard size.width >= 0, size.height >= 0, !overflow, bytes.count == count else { return nil }
        self.size = size
        self.bytes = bytes
    }

    /// A transparent black image, whose size the caller has checked against its limits.
    init(transparent size: PixelSize) {
        self.size = size
        bytes = [UInt8](repeating: 0, count: size.area * 4)
    }

    /// Columns.
    public var width: Int { size.width }
    /// Rows.
    public var height: Int { size.height }

    /// Red, green, blue and alpha of the pixel in column `x` of row `y`; traps outside the image.
    public subscript(x: Int, y: Int) -> (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
        precondition(x >= 0 && x < width && y >= 0 && y < height, "pixel (\(x), \(y)) outside \(size)")
        let offset = (y * width + x) * 4
        return (bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3])
    }
}
