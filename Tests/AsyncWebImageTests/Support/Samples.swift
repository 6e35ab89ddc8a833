import AsyncWebImage
import ImageEncoders
import TestSupport
import Threading

/// Images made by our own encoders, the same in every run.
enum Samples {
    /// A smooth picture with an edge, so that a wrong row or column shows.
    static func picture(_ width: Int, _ height: Int) -> PixelBuffer {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * 4)
        for y in 0..<height {
            for x in 0..<width {
                let edge: UInt8 = (x + y) % 64 < 32 ? 40 : 0
                bytes += [UInt8(x * 200 / width) + edge, UInt8(y * 200 / height) + edge, UInt8((x * y) % 200), 255]
            }
        }
        guard let picture = PixelBuffer(size: PixelSize(width: width, height: height), bytes: bytes) else {
            preconditionFailure("sizes agree")
        }
        return picture
    }

    /// The picture as a file; made once, as encoders are slow without optimization.
    static func file(_ format: ImageFormat, _ width: Int = 64, _ height: Int = 48) throws -> [UInt8] {
        let key = "\(format) \(width) \(height)"
        if let file = files.withLock({ $0[key] }) { return file }
        let file = try picture(width, height).encoded(as: format)
        files.withLock { $0[key] = file }
        return file
    }

    /// A PNG file of a picture that does not compress well.
    static func noise(_ width: Int, _ height: Int) throws -> [UInt8] {
        var random = SplitMix(seed: 5)
        var bytes = [UInt8](repeating: 255, count: width * height * 4)
        for index in bytes.indices where index % 4 != 3 { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
        guard let picture = PixelBuffer(size: PixelSize(width: width, height: height), bytes: bytes) else {
            preconditionFailure("sizes agree")
        }
        return try picture.encoded(as: .png)
    }

    private static let files = Locked<[String: [UInt8]]>([:])
}
