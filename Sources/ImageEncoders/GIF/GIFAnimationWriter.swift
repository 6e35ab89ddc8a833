import ImageCodecs

/// Writes animated GIF: each frame is the rectangle that has changed, with its own palette.
///
/// Holds one frame back, because its disposal method depends on the next one.
final class GIFAnimationWriter: AnimationWriter {
    private let writer: GIFWriter
    private let maximumColors: Int
    /// The image that a viewer shows when the held frame begins.
    private var canvas: PixelBuffer
    private var held: (frame: PixelBuffer, delay: UInt16)?
    private var isFirst = true

    init(size: PixelSize, repetitionCount: Int, options: GIFOptions) throws(CodecError) {
        guard size.width <= 65_535, size.height <= 65_535 else {
            throw .encodingFailed(.gif, "more than 65535 pixels on one side")
        }
        maximumColors = min(max(options.maximumColors, 2), 256)
        writer = try GIFWriter(size: size)
        canvas = PixelBuffer(transparent: size)
        if repetitionCount != 1 {
            // The file stores the number of repetitions; 0 means forever.
            try writer.writeLoop(repetitions: UInt16(clamping: max(repetitionCount, 1) - 1))
        }
    }

    /// Without the frame that is held back.
    var byteCount: Int { writer.byteCount }

    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        let frame = frame.withoutHalfTransparentPixels()
        if let held { try write(held.frame, delay: held.delay, isCleared: frame.uncovers(held.frame)) }
        let hundredths = (delay / .milliseconds(10)).rounded()
        // Viewers show delays below two hundredths for ten.
        held = (frame, delay == .zero ? 0 : UInt16(min(max(hundredths, 2), 65_535)))
    }

    func finish() throws(CodecError) -> [UInt8] {
        if let held { try write(held.frame, delay: held.delay, isCleared: false) }
        return try writer.finish()
    }

    /// Writes a frame, whose area is cleared afterward if the next frame needs transparency there.
    private func write(_ frame: PixelBuffer, delay: UInt16, isCleared: Bool) throws(CodecError) {
        let place: PixelRectangle
        if isFirst {
            place = PixelRectangle(left: 0, top: 0, size: frame.size)
        } else if isCleared {
            place = frame.bounds { frame.bytes[$0 + 3] == 0 } ?? .firstPixel
        } else {
            place = frame.difference(from: canvas)
        }
        isFirst = false
        let whole = frame.cropped(to: place)
        var changed = whole
        changed.clearPixels(equalTo: canvas.cropped(to: place))
        // Transparency takes one palette entry.
        let image =
            IndexedImage(exactly: changed, maximumColors) ?? IndexedImage(exactly: whole, maximumColors)
            ?? IndexedImage(nearest: changed, maximumColors)
        try writer.write(image, at: place, clearsPlace: isCleared, delay: delay)
        canvas = isCleared ? PixelBuffer(transparent: frame.size) : frame
    }
}

extension PixelBuffer {
    /// Returns the image with every pixel either opaque or fully transparent and black, as GIF requires.
    fileprivate func withoutHalfTransparentPixels() -> PixelBuffer {
        var result = self
        for offset in stride(from: 0, to: bytes.count, by: 4) where bytes[offset + 3] < 255 {
            if bytes[offset + 3] >= 128 {
                result.bytes[offset + 3] = 255
            } else {
                for channel in 0..<4 { result.bytes[offset + channel] = 0 }
            }
        }
        return result
    }

    /// Returns whether a pixel is transparent here and opaque in `other`.
    fileprivate func uncovers(_ other: PixelBuffer) -> Bool {
        stride(from: 3, to: bytes.count, by: 4).contains { bytes[$0] == 0 && other.bytes[$0] != 0 }
    }

    /// Makes pixels transparent that are equal to those of `other`.
    fileprivate mutating func clearPixels(equalTo other: PixelBuffer) {
        for offset in stride(from: 0, to: bytes.count, by: 4) {
            let isSame = (0..<4).allSatisfy { bytes[offset + $0] == other.bytes[offset + $0] }
            if isSame { bytes[offset + 3] = 0 }
        }
    }
}
