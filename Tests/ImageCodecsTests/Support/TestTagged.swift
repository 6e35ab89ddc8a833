@testable import ImageCodecs

/// Puts profiles into files that have none.
enum TestTagged {
    /// A PNG of 8 bits per channel with `chunks` before its pixels; color type 0 is gray, 2 color, 6 color with alpha.
    static func png(_ pixels: PixelBuffer, colorType: UInt8 = 6, chunks: [[UInt8]]) -> [UInt8] {
        let channels = colorType == 0 ? 1 : colorType == 2 ? 3 : 4
        let samples = pixels.bytes.indices.filter { $0 % 4 < channels }.map { Int(pixels.bytes[$0]) }
        return TestPNG(before: chunks).file(
            TestPNG.Image(
                width: pixels.width, height: pixels.height, depth: 8, colorType: colorType, samples: samples))
    }

    /// An `iCCP` chunk.
    static func iccp(_ profile: [UInt8], name: String = "test") -> [UInt8] {
        TestPNG.chunk("iCCP", Array(name.utf8) + [0, 0] + TestPNG.stored(profile))
    }

    /// A JPEG with `profile` spread over segments of at most `partLength` bytes.
    static func jpeg(_ file: [UInt8], profile: [UInt8], partLength: Int = 65_519, isReversed: Bool = false) -> [UInt8] {
        let count = (profile.count + partLength - 1) / partLength
        let segments = (0..<count).map { index in
            let part = Array(profile[(index * partLength)..<min(profile.count, (index + 1) * partLength)])
            return segment(number: index + 1, of: count, part)
        }
        let ordered = isReversed ? segments.reversed() : segments
        return Array(file[..<2]) + ordered.flatMap(\.self) + Array(file[2...])
    }

    /// One `APP2` segment.
    static func segment(number: Int, of count: Int, _ part: [UInt8]) -> [UInt8] {
        let content = Array("ICC_PROFILE\0".utf8) + [UInt8(number), UInt8(count)] + part
        let length = content.count + 2
        return [0xFF, 0xE2, UInt8(length >> 8), UInt8(length & 255)] + content
    }

    /// A still WebP without metadata with `profile` in front.
    static func webp(_ file: [UInt8], size: PixelSize, profile: [UInt8]) -> [UInt8] {
        func number(_ value: Int, bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
            Array(name.utf8) + number(data.count, bytes: 4) + data + (data.count % 2 == 1 ? [0] : [])
        }
        let head = [0x20, 0, 0, 0] + number(size.width - 1, bytes: 3) + number(size.height - 1, bytes: 3)
        let body = chunk("VP8X", head) + chunk("ICCP", profile) + file[12...]
        return Array("RIFF".utf8) + number(body.count + 4, bytes: 4) + Array("WEBP".utf8) + body
    }
}
