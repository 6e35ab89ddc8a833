/// Writes APNG: each frame is the rectangle that has changed, compressed as a PNG of its own by libpng.
final class APNGWriter: AnimationWriter {
    private let size: PixelSize
    private let loopCount: UInt16
    private var last: PixelBuffer?
    private var frameCount = 0
    private var sequence = 0
    /// The chunks of all frames.
    private var body: [UInt8] = []

    init(size: PixelSize, loopCount: UInt16) {
        self.size = size
        self.loopCount = loopCount
    }

    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        let changed =
            last.map { frame.difference(from: $0) } ?? PixelRectangle(left: 0, top: 0, size: size)
        last = frame
        // All frames share the header of the first, so none may leave out its alpha.
        let image = try PNGEncoder.encode(frame.cropped(to: changed), isOpaque: false)
        appendControl(of: changed, delay: delay)
        var offset = 8
        while let length = image.span.bigEndian32(at: offset) {
            let data = offset + 8..<offset + 8 + length
            if image.span.has("IDAT", at: offset + 4) {
                if frameCount == 0 {
                    body.append(pngChunk: "IDAT", [], image.span.extracting(data))
                } else {
                    body.append(pngChunk: "fdAT", nextSequenceNumber(), image.span.extracting(data))
                }
            }
            offset = data.upperBound + 4
        }
        frameCount += 1
    }

    func finish() throws(CodecError) -> [UInt8] {
        var file = [UInt8].pngSignature
        var header: [UInt8] = []
        header.append(bigEndian32: size.width)
        header.append(bigEndian32: size.height)
        file.append(pngChunk: "IHDR", header + [8, 6, 0, 0, 0])
        var control: [UInt8] = []
        control.append(bigEndian32: frameCount)
        control.append(bigEndian32: Int(loopCount))
        file.append(pngChunk: "acTL", control)
        file += body
        file.append(pngChunk: "IEND")
        return file
    }

    /// The frame stays, and replaces what was below.
    private func appendControl(of place: PixelRectangle, delay: Duration) {
        var control = nextSequenceNumber()
        for value in [place.size.width, place.size.height, place.left, place.top] {
            control.append(bigEndian32: value)
        }
        // Two bytes hold thousandths up to a minute; after that, tenths.
        let milliseconds = (delay / .milliseconds(1)).rounded()
        let isLong = milliseconds > 65_535
        control.append(bigEndian16: Int(min(isLong ? milliseconds / 100 : milliseconds, 65_535)))
        control.append(bigEndian16: isLong ? 10 : 1000)
        body.append(pngChunk: "fcTL", control + [0, 0])
    }

    private func nextSequenceNumber() -> [UInt8] {
        var number: [UInt8] = []
        number.append(bigEndian32: sequence)
        sequence += 1
        return number
    }
}
