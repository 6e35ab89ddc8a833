/// The beginning of a JPEG made by hand, up to its first scan.
struct TestJPEG {
    /// The kind of frame: `C0` is baseline, `C2` progressive.
    var marker: UInt8 = 0xC0

    func file(exif: [UInt8]?, width: Int, height: Int) -> [UInt8] {
        var bytes: [UInt8] = [0xFF, 0xD8]
        if let exif { bytes += segment(0xE1, Array("Exif\0\0".utf8) + exif) }
        let size = [UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
        bytes += segment(marker, [8] + size + [1, 1, 0x11, 0])
        return bytes + segment(0xDA, [1, 1, 0, 0, 63, 0])
    }

    private func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + content
    }
}
