package import ImageCodecs

/// Exif metadata made by hand.
package enum TestExif {
    /// Returns the JPEG `file` with a segment that declares `orientation`.
    package static func inserted(into file: [UInt8], _ orientation: ImageOrientation) -> [UInt8] {
        let content = Array("Exif\0\0".utf8) + bytes(orientation: UInt8(orientation.rawValue))
        return Array(file[..<2]) + [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content + Array(file[2...])
    }

    /// A TIFF header and a directory with another tag before the orientation.
    package static func bytes(orientation: UInt8, isBigEndian: Bool = true, type: UInt8 = 3) -> [UInt8] {
        func short(_ value: UInt8) -> [UInt8] { isBigEndian ? [0, value] : [value, 0] }
        func long(_ value: UInt8) -> [UInt8] { isBigEndian ? [0, 0, 0, value] : [value, 0, 0, 0] }
        func tag(_ value: UInt8) -> [UInt8] { isBigEndian ? [1, value] : [value, 1] }
        let value = type == 3 ? short(orientation) + [0, 0] : long(orientation)
        return Array((isBigEndian ? "MM" : "II").utf8) + short(42) + long(8) + short(2)
            + tag(0x0F) + short(2) + long(1) + [0, 0, 0, 0]
            + tag(0x12) + short(type) + long(1) + value
            + long(0)
    }
}
