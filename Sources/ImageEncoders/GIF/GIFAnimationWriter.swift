import ImageCodecs

/// Writes animated GIF: each frame is the rectangle that has changed, in colors of its own.
///
/// Holds one frame back, because what becomes of it when its time is over depends on the next.
final class GIFAnimationWriter: AnimationWriter {
    private let writer: GIFWriter
    private let maximumColors: Int
    /// What a viewer sees when the frame held back comes.
    private var canvas: PixelBuffer
    private var held: (frame: PixelBuffer, delay: UInt16)?
    private var isFirst = true

    init(size: PixelSize, loopCount: UInt16, options: GIFOptions) throws(CodecError) {
        guard size.width <= 65_535, size.height <= 65_535 else {
            throw .encodingFailed(.gif, "more than 65535 pixels a side")
        }
        maximumColors = min(max(options.maximumColors, 2), 256)
        writer = try GIFWriter(size: size)
        canvas = PixelBuffer(transparent: size)
        if loopCount != 1 {
            // The file counts repetitions, 0 being without end.
            try writer.writeLoop(repetitions: max(loopCount, 1) - 1)
        }
    }

    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        let frame = frame.withoutHalfTransparentPixels()
        if let held { try write(held.frame, delay: held.delay, isCleared: frame.uncovers(held.frame)) }
        let hundredths = (delay / .milliseconds(10)).rounded()
        // Less than two is shown for ten.
        held = (frame, delay == .zero ? 0 : UInt16(min(max(hundredths, 2), 65_535)))
    }

    func finish() throws(CodecError) -> [UInt8] {
        if let held { try write(held.frame, delay: held.delay, isCleared: false) }
        return try writer.finish()
    }

    /// Writes a frame, whose place is cleared afterward if the next is to show through there.
    private func write(_ frame: PixelBuffer, delay: UInt16, isCleared: Bool) throws(CodecError) {
        let place: PixelRectangle
        if isFirst {
            place = PixelRectangle(left: 0, top: 0, size: frame.size)
        } else if isCleared {
            place = frame.bounds { frame.bytes[$0 + 3] == 0 }
        } else {
            place = frame.difference(from: canvas)
        }
        isFirst = false
        let whole = frame.cropped(to: place)
        var changed = whole
        changed.clearPixels(equalTo: canvas.cropped(to: place))
        // Transparency takes one of the colors.
        let image =
            IndexedImage(exactly: changed, maximumColors) ?? IndexedImage(exactly: whole, maximumColors)
            ?? IndexedImage(nearest: changed, maximumColors)
        try writer.write(image, at: place, clearsPlace: isCleared, delay: delay)
        canvas = isCleared ? PixelBuffer(transparent: frame.size) : frame
    }
}

extension PixelBuffer {
    /// The image with every pixel either opaque or black and fully transparent, as GIF can hold it.
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

    /// Makes those pixels transparent that are the same in `other`.
    fileprivate mutating func clearPixels(equalTo other: PixelBuffer) {
        for offset in stride(from: 0, to: bytes.count, by: 4) {
            let isSame = (0..<4).allSatisfy { bytes[offset + $0] == other.bytes[offset + $0] }
            if isSame { bytes[offset + 3] = 0 }
        }
    }
}
