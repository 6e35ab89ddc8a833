import CWebPDemux
import CWebPWriter
import ImageCodecs
import ImageTestSupport

/// The frames of an animation, composed in the simplest way.
enum ReferenceAnimation {
    /// A frame as stored: its RGBA pixels, its position, and how it is drawn.
    struct Layer: Sendable {
        enum Disposal: UInt8, CaseIterable, Sendable { case keep, background, previous }

        var left: Int
        var top: Int
        var width: Int
        var height: Int
        var pixels: [UInt8]
        var disposal = Disposal.keep
        var isOver = false
    }

    /// Returns every frame, composed on a transparent canvas.
    static func frames(_ layers: [Layer], width: Int, height: Int) -> [[UInt8]] {
        var canvas = [UInt8](repeating: 0, count: width * height * 4)
        return layers.map { layer in
            let before = canvas
            func forEachPixel(_ body: (_ place: Int, _ pixel: Int) -> Void) {
                for y in 0..<layer.height where layer.top + y < height {
                    for x in 0..<layer.width where layer.left + x < width {
                        body(((layer.top + y) * width + layer.left + x) * 4, (y * layer.width + x) * 4)
                    }
                }
            }
            forEachPixel { place, pixel in
                let above = layer.pixels[pixel..<pixel + 4].map { Int($0) }
                let below = canvas[place..<place + 4].map { Int($0) }
                let result = layer.isOver ? over(above, below) : above
                for channel in 0..<4 { canvas[place + channel] = UInt8(result[channel]) }
            }
            let shown = canvas
            switch layer.disposal {
            case .keep: break
            case .background: forEachPixel { place, _ in for channel in 0..<4 { canvas[place + channel] = 0 } }
            case .previous: canvas = before
            }
            return shown
        }
    }

    /// Returns one pixel blended over another, rounded to the nearest.
    private static func over(_ above: [Int], _ below: [Int]) -> [Int] {
        let (upper, lower) = (above[3] * 255, (255 - above[3]) * below[3])
        let sum = upper + lower
        guard above[3] > 0 else { return below }
        let colors = (0..<3).map { ((above[$0] * upper + below[$0] * lower) * 2 + sum) / (sum * 2) }
        return colors + [(sum * 2 + 255) / 510]
    }

    /// Returns the frames of `file` from libwebp's own animation decoder.
    static func webp(_ file: [UInt8]) -> [[UInt8]] {
        file.withUnsafeBufferPointer { bytes in
            var data = WebPData(bytes: bytes.baseAddress, size: bytes.count)
            var options = WebPAnimDecoderOptions()
            guard WebPAnimDecoderOptionsInit(&options) != 0, let decoder = WebPAnimDecoderNew(&data, &options) else {
                return []
            }
            defer { WebPAnimDecoderDelete(decoder) }
            var info = WebPAnimInfo()
            guard WebPAnimDecoderGetInfo(decoder, &info) != 0 else { return [] }
            var frames: [[UInt8]] = []
            var pixels: UnsafeMutablePointer<UInt8>?
            var time: Int32 = 0
            while WebPAnimDecoderGetNext(decoder, &pixels, &time) != 0 {
                let count = Int(info.canvas_width * info.canvas_height) * 4
                frames.append(Array(UnsafeBufferPointer(start: pixels, count: count)))
            }
            return frames
        }
    }
}
