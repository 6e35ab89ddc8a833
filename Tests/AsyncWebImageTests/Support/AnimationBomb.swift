/// Small files whose frames of one pixel are on a huge canvas.
enum AnimationBomb {
    private static let side = 16_383

    /// A GIF; each frame takes 27 bytes.
    static func gif(frames: Int) -> [UInt8] {
        let extent = [UInt8(side & 0xFF), UInt8(side >> 8)]
        let head = Array("GIF89a".utf8) + extent + extent + [0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let control: [UInt8] = [0x21, 0xF9, 4, 4, 5, 0, 0, 0]
        let pixel: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
        return head + (0..<frames).flatMap { _ in control + pixel } + [0x3B]
    }

    /// A WebP; each frame takes 46 bytes.
    static func webp(frames: Int) -> [UInt8] {
        let extent = number(side - 1, 3)
        let pixel = chunk("VP8L", [0x2F, 0, 0, 0, 0x10, 7, 0x10, 0x11, 0x11, 0x88, 0x88, 0xFE, 7, 0])
        let frame = chunk("ANMF", [UInt8](repeating: 0, count: 12) + number(50, 3) + [0] + pixel)
        let body =
            Array("WEBP".utf8) + chunk("VP8X", [0x12, 0, 0, 0] + extent + extent)
            + chunk("ANIM", [UInt8](repeating: 0, count: 6)) + (0..<frames).flatMap { _ in frame }
        return Array("RIFF".utf8) + number(body.count, 4) + body
    }

    private static func chunk(_ kind: String, _ content: [UInt8]) -> [UInt8] {
        Array(kind.utf8) + number(content.count, 4) + content + (content.count.isMultiple(of: 2) ? [] : [0])
    }

    /// Returns `number` as `count` bytes in little-endian order.
    private static func number(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
