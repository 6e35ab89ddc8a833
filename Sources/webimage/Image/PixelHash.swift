import AsyncWebImage

/// A hash of the pixels of an image, as written but before they are encoded.
enum PixelHash: String, CaseIterable, Sendable {
    /// The perceptual hash, 64 bits.
    case phash
    /// The placeholder ThumbHash.
    case thumbhash

    /// Returns the hash of an image as a JSON string: hexadecimal digits, or Base64 for ThumbHash.
    func json(of pixels: PixelBuffer) -> [UInt8] {
        switch self {
        case .phash:
            let digits = String(pixels.perceptualHash(), radix: 16)
            return JSONObject.quoted(String(repeating: "0", count: 16 - digits.count) + digits)
        case .thumbhash: return Base64.text(of: pixels.thumbHash())
        }
    }
}
