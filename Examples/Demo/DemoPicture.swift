import AsyncWebImage
import ImageEncoders

/// A file served by the demo: a generated photograph in one format.
struct DemoPicture: Sendable {
    let path: String
    /// The common name of the format.
    let kind: String
    let bytes: [UInt8]

    private static let animationFrames = 4

    /// Returns one picture for every way in which an image can arrive, `width` pixels wide (the animation: half).
    static func all(width: Int = 960) throws -> [DemoPicture] {
        func photograph(_ landscape: Landscape) throws -> PixelBuffer {
            try self.photograph(landscape, width: width)
        }
        return [
            DemoPicture(
                path: "/dawn.jpg", kind: "progressive JPEG",
                bytes: try photograph(.dawn).encoded(as: .jpeg, quality: 85, isProgressive: true)),
            DemoPicture(
                path: "/noon.jpg", kind: "baseline JPEG", bytes: try photograph(.noon).encoded(as: .jpeg, quality: 85)),
            DemoPicture(path: "/dusk.webp", kind: "WebP", bytes: try photograph(.dusk).encoded(as: .webp, quality: 85)),
            DemoPicture(path: "/autumn.png", kind: "PNG", bytes: try photograph(.autumn).encoded(as: .png)),
            DemoPicture(path: "/night.gif", kind: "animated GIF", bytes: try moonrise(width: width / 2)),
        ]
    }

    private static func photograph(_ landscape: Landscape, width: Int) throws -> PixelBuffer {
        let size = size(width: width)
        let bytes = landscape.render(width: size.width, height: size.height)
        guard let pixels = PixelBuffer(size: size, bytes: bytes) else {
            throw CodecError.encodingFailed(.png, "the photograph has the wrong size")
        }
        return pixels
    }

    private static func moonrise(width: Int) throws -> [UInt8] {
        var landscape = Landscape.night
        let encoder = try AnimationEncoder(format: .gif, size: size(width: width))
        for frame in 0..<animationFrames {
            landscape.sunPosition = [0.7 - 0.03 * Double(frame), 0.2 + 0.02 * Double(frame)]
            try encoder.append(try photograph(landscape, width: width), delay: .milliseconds(200))
        }
        return try encoder.finish()
    }

    private static func size(width: Int) -> PixelSize { PixelSize(width: width, height: width * 2 / 3) }
}
