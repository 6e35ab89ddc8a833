import ImageCodecs

/// Writes animated WebP: each frame is the rectangle that has changed, compressed as a separate image by libwebp.
///
/// Frames are chosen like those of libwebp's `WebPAnimEncoder`, which cannot be used because it does not tell how much
/// memory they take. A single frame becomes a still image. Equal frames become one, except that an animation keeps a
/// second frame, without which viewers ignore its timing.
final class WebPAnimationWriter: AnimationWriter {
    /// The maximum delay in milliseconds; a frame's duration has 24 bits.
    private static let maximumDelay = 0xFF_FFFF
    /// The position of the features of the file, the first byte of the content of `VP8X`.
    private static let featuresPosition = 20

    /// The bits of the features.
    private enum Feature {
        static let animation: UInt8 = 0x02
        static let exif: UInt8 = 0x08
        static let alpha: UInt8 = 0x10
        static let profile: UInt8 = 0x20
    }

    /// The last frame in the file, whose duration and disposal depend on the next one.
    private struct StoredFrame {
        /// The position of the content of its chunk.
        let position: Int
        let place: PixelRectangle
        var delay: Int
        /// The part of the delay that the last of several equal frames has added; `nil` for a frame of its own.
        var lastDelay: Int?
    }

    private let encoder: WebPEncoder
    private let similarity: WebPSimilarity
    private let exif: [UInt8]?
    /// The position of the `ANIM` chunk, which has 14 bytes and is followed by the first frame.
    private let animationPosition: Int
    private var file: [UInt8]
    /// The pixels that a viewer shows.
    private var canvas = PixelBuffer(transparent: PixelSize(width: 0, height: 0))
    private var last: StoredFrame?

    init(
        size: PixelSize, repetitionCount: Int, options: WebPOptions, metadata: ImageMetadata
    ) throws(CodecError) {
        guard size.width <= WebPEncoder.maximumSide, size.height <= WebPEncoder.maximumSide else {
            throw .encodingFailed(.webp, "more than \(WebPEncoder.maximumSide) pixels on one side")
        }
        try metadata.check(.webp)
        encoder = WebPEncoder(options)
        similarity = WebPSimilarity(options)
        exif = metadata.exif
        let profile = metadata.usableProfile(isGray: false)
        var features = Feature.animation
        if profile != nil { features |= Feature.profile }
        if metadata.exif != nil { features |= Feature.exif }
        var head: [UInt8] = [features, 0, 0, 0]
        head.append(littleEndian: size.width - 1, count: 3)
        head.append(littleEndian: size.height - 1, count: 3)
        // The number of bytes follows at the end.
        var file = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP".utf8)
        file.append(webPChunk: "VP8X", head)
        if let profile { file.append(webPChunk: "ICCP", [], profile.span) }
        animationPosition = file.count
        // A transparent white background, which most viewers ignore.
        var parameters: [UInt8] = [255, 255, 255, 0]
        parameters.append(littleEndian: min(repetitionCount, Int(UInt16.max)), count: 2)
        file.append(webPChunk: "ANIM", parameters)
        self.file = file
    }

    var byteCount: Int { file.count }

    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        let delay = Int(min((delay / .milliseconds(1)).rounded(), Double(Self.maximumDelay)))
        guard let last else {
            canvas = frame
            return try write(WebPFramePart(whole: frame), delay)
        }
        let place: PixelRectangle
        if let changes = similarity.difference(of: frame, from: canvas) {
            place = clear(last, ifLessChangesThan: changes, in: frame)
        } else if last.delay + delay <= Self.maximumDelay {
            return extend(last, by: delay)
        } else {
            place = .firstPixel
        }
        let part = WebPFramePart(of: frame, in: place, on: canvas, similarity)
        part.paint(on: &canvas)
        try write(part, delay)
    }

    func finish() throws(CodecError) -> [UInt8] {
        if let last, last.position == animationPosition + 14 + 8, let lastDelay = last.lastDelay {
            set(delay: last.delay - lastDelay, of: last)
            try write(WebPFramePart(of: canvas, in: .firstPixel, on: canvas, similarity), lastDelay)
        } else if let last, last.position == animationPosition + 14 + 8 {
            // The chunks of a frame are those of a still image.
            file.removeSubrange(animationPosition..<last.position + 16)
            file[Self.featuresPosition] &= ~Feature.animation
        }
        if let exif { file.append(webPChunk: "EXIF", [], exif.span) }
        guard let length = UInt32(exactly: file.count - 8) else { throw .encodingFailed(.webp, "4 GiB or more") }
        var number: [UInt8] = []
        number.append(littleEndian: Int(length), count: 4)
        file.replace(at: 4, with: number.span)
        return file
    }

    /// Lets viewers clear the last frame before the next one if that leaves less to store of `frame`, in which
    /// `changes` are different otherwise; returns the place of the remaining changes.
    private func clear(
        _ last: StoredFrame, ifLessChangesThan changes: PixelRectangle, in frame: PixelBuffer
    ) -> PixelRectangle {
        guard !frame.isOpaque else { return changes }
        var cleared = canvas
        let blank = PixelBuffer(transparent: PixelSize(width: last.place.size.width, height: 1))
        for row in 0..<last.place.size.height {
            let offset = ((last.place.top + row) * canvas.width + last.place.left) * 4
            cleared.bytes.replace(at: offset, with: blank.bytes.span)
        }
        let remaining = similarity.difference(of: frame, from: cleared) ?? .firstPixel
        guard remaining.size.area < changes.size.area else { return changes }
        canvas = cleared
        file[last.position + 15] |= 1
        file[Self.featuresPosition] |= Feature.alpha
        return remaining
    }

    /// Shows the last frame for longer.
    private func extend(_ frame: StoredFrame, by delay: Int) {
        var extended = frame
        extended.delay += delay
        extended.lastDelay = delay
        set(delay: extended.delay, of: frame)
        last = extended
    }

    private func set(delay: Int, of frame: StoredFrame) {
        var number: [UInt8] = []
        number.append(littleEndian: delay, count: 3)
        file.replace(at: frame.position + 12, with: number.span)
    }

    private func write(_ part: WebPFramePart, _ delay: Int) throws(CodecError) {
        // Filtering would mix the colors of transparent blocks into those beside them.
        let image = try encoder.encode(part.pixels, isFiltered: !part.isBlended)
        let place = part.place
        var head: [UInt8] = []
        for value in [place.left / 2, place.top / 2, place.size.width - 1, place.size.height - 1, delay] {
            head.append(littleEndian: value, count: 3)
        }
        head.append(part.isBlended ? 0 : 2)
        last = StoredFrame(position: file.count + 8, place: place, delay: delay)
        // Without the header of the file, and without VP8X, which images with an alpha plane have.
        let start = image.span.has("VP8X", at: 12) ? 30 : 12
        file.append(webPChunk: "ANMF", head, image.span.extracting(start..<image.count))
        if !part.pixels.isOpaque { file[Self.featuresPosition] |= Feature.alpha }
    }
}
