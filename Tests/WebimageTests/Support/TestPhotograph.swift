import AsyncWebImage
import TestSupport

/// 96 x 64 opaque pixels: a gradient with some grain, so that no format makes it tiny.
let testPhotograph: PixelBuffer? = {
    let size = PixelSize(width: 96, height: 64)
    var random = SplitMix(seed: 1)
    var bytes: [UInt8] = []
    for y in 0..<size.height {
        for x in 0..<size.width {
            let grain = UInt8(random.next() % 24)
            bytes += [UInt8(x * 2) + grain, UInt8(y * 3) + grain, UInt8(x + y) + grain, 255]
        }
    }
    return PixelBuffer(size: size, bytes: bytes)
}()
