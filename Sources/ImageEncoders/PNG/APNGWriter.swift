import ImageCodecs

/// Writes APNG: each frame is the rectangle that has changed, compressed as a separate PNG by libpng.
///
/// Frames are compressed without alpha until one is transparent; then earlier frames are compressed again with alpha,
/// because all frames share the header of the first.
final class APNGWriter: AnimationWriter {
    /// A frame as it is stored.
    private struct Frame {
        var place: PixelRectangle
        var delay: Duration
        var data: [UInt8]

        /// The size of the chunks of a frame, in bytes: its control, and its data with a sequence number.
        var byteCount: Int { 12 + 26 + 12 + 4 + data.count }
    }

    private let size: PixelSize
    private let repetitionCount: Int
    private let encoder: PNGEncoder
    private let metadata: [UInt8]
    private var form = PNGForm(.rgb)
    private var last: PixelBuffer?
    private var frames: [Frame] = []
    private(set) var byteCount: Int

    /// Throws an error if the metadata is too long.
    init(
        _ encoder: PNGEncoder, size: PixelSize, repetitionCount: Int, metadata: ImageMetadata
    ) throws(CodecError) {
        self.encoder = encoder
        self.size = size
        self.repetitionCount = repetitionCount
        self.metadata = try metadata.pngChunks(isGray: false)
        // The signature, IHDR, acTL, and IEND; the first frame has one sequence number less than others.
        byteCount = 8 + 25 + 20 + 12 - 4 + self.metadata.count
    }

    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        let place = last.map { frame.difference(from: $0) } ?? PixelRectangle(left: 0, top: 0, size: size)
        last = frame
        let changed = frame.cropped(to: place)
        if form.colorType == .rgb, !changed.isOpaque { try addAlpha() }
        let data = try Self.imageData(of: encoder.encode(changed, as: form))
        let stored = Frame(place: place, delay: delay, data: data)
        byteCount += stored.byteCount
        frames.append(stored)
    }

    func finish() throws(CodecError) -> [UInt8] {
        var file = [UInt8].pngSignature
        file.reserveCapacity(byteCount)
        file.append(pngChunk: "IHDR", header(of: size))
        file += metadata
        var control: [UInt8] = []
        control.append(bigEndian32: frames.count)
        control.append(bigEndian32: min(repetitionCount, Int(Int32.max)))
        file.append(pngChunk: "acTL", control)
        var sequence = 0
        func nextSequenceNumber() -> [UInt8] {
            var number: [UInt8] = []
            number.append(bigEndian32: sequence)
            sequence += 1
            return number
        }
        for index in frames.indices {
            let frame = frames[index]
            // Not in memory twice.
            frames[index].data = []
            file.append(pngChunk: "fcTL", nextSequenceNumber() + Self.control(of: frame))
            if index == 0 {
                file.append(pngChunk: "IDAT", [], frame.data.span)
            } else {
                file.append(pngChunk: "fdAT", nextSequenceNumber(), frame.data.span)
            }
        }
        file.append(pngChunk: "IEND")
        return file
    }

    /// Compresses all earlier frames again with an alpha channel.
    private func addAlpha() throws(CodecError) {
        let opaque = form
        form = PNGForm(.rgba)
        for index in frames.indices {
            var file = [UInt8].pngSignature
            file.append(pngChunk: "IHDR", header(of: frames[index].place.size, form: opaque))
            let data = frames[index].data
            file.append(pngChunk: "IDAT", [], data.span)
            file.append(pngChunk: "IEND")
            // This module's own output needs no limits.
            let limits = DecodeLimits(maximumPixels: .max, maximumSide: .max, maximumBytes: .max)
            let pixels = try StreamingDecoder.decode(file.span, limits: limits).pixels
            byteCount -= data.count
            frames[index].data = try Self.imageData(of: encoder.encode(pixels, as: form))
            byteCount += frames[index].data.count
        }
    }

    private func header(of size: PixelSize, form: PNGForm? = nil) -> [UInt8] {
        var header: [UInt8] = []
        header.append(bigEndian32: size.width)
        header.append(bigEndian32: size.height)
        return header + [8, UInt8((form ?? self.form).colorType.rawValue), 0, 0, 0]
    }

    /// Returns a frame control that keeps the frame and replaces the pixels below.
    private static func control(of frame: Frame) -> [UInt8] {
        var control: [UInt8] = []
        let place = frame.place
        for value in [place.size.width, place.size.height, place.left, place.top] {
            control.append(bigEndian32: value)
        }
        // Two bytes hold milliseconds up to one minute; above that, tenths of a second.
        let milliseconds = (frame.delay / .milliseconds(1)).rounded()
        let isLong = milliseconds > 65_535
        control.append(bigEndian16: Int(min(isLong ? milliseconds / 100 : milliseconds, 65_535)))
        control.append(bigEndian16: isLong ? 10 : 1000)
        return control + [0, 0]
    }

    /// Returns the content of the `IDAT` chunks of `file`.
    private static func imageData(of file: [UInt8]) -> [UInt8] {
        var data: [UInt8] = []
        data.reserveCapacity(file.count)
        var offset = 8
        while let length = file.span.bigEndian32(at: offset) {
            let range = offset + 8..<offset + 8 + length
            if file.span.has("IDAT", at: offset + 4) { data.append(file.span.extracting(range)) }
            offset = range.upperBound + 4
        }
        return data
    }
}
