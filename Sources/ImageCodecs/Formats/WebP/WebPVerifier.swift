/// Verifies a WebP: the lengths of its chunks, and the bitstream of the image or of every frame, alpha included.
///
/// libwebp decodes each image but produces only the pixels of a corner. Lossy bitstreams have no checksums: most
/// damage inside of one changes pixels without an error.
final class WebPVerifier: BuiltInVerifier {
    private static let maximumExifBytes = 64 << 10

    private enum Content {
        case riff, chunkHead, frameHead, alpha, image, exif, skipped
    }

    private let header: ImageHeader
    private var frames: FrameBudget
    /// The number of bytes left of the file according to its header, of the current frame, and of the content.
    private var fileLeft = 12
    private var frameLeft: Int?
    private var contentLeft = 12
    private var content = Content.riff
    /// The received bytes of a part that is parsed as a whole.
    private var head: [UInt8] = []
    /// The size that the next image must have; `nil` once it has been received.
    private var imageSize: PixelSize?
    private var image: WebPImageDecoder?
    private var exif: [UInt8] = []
    private let maximumBytes: Int

    static func workingBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int {
        // libwebp holds a few rows of a lossy image, up to five bytes per pixel with alpha, and four for a lossless
        // image.
        let bytesPerPixel = header.mayBeAnimated || header.hasAlpha ? 5 : header.tableBytes > 0 ? 4 : 0
        // The file declares the length of the first image; of other frames only that they are in the file.
        let fileBytes = min(beginning.littleEndian32(at: 4) ?? 0, 1 << 32)
        let memoryUsage = header.mayBeAnimated ? fileBytes : header.memoryUsage
        let (pixels, overflow) = header.size.area.multipliedReportingOverflow(by: bytesPerPixel)
        let fixed = memoryUsage + header.tableBytes + header.size.width * 128 + (512 << 10)
        return overflow || pixels > .max - fixed ? .max : pixels + fixed
    }

    init(header: ImageHeader, limits: DecodeLimits) throws(CodecError) {
        self.header = header
        frames = FrameBudget(of: header, limits: limits)
        maximumBytes = limits.maximumBytes
        imageSize = header.mayBeAnimated ? nil : header.size
    }

    func append(_ bytes: Span<UInt8>) throws(CodecError) {
        var offset = 0
        while offset < bytes.count, !isComplete {
            let range = offset..<offset + min(contentLeft, bytes.count - offset)
            offset = range.upperBound
            contentLeft -= range.count
            fileLeft -= range.count
            if let left = frameLeft { frameLeft = left - range.count }
            let data = bytes.extracting(range)
            switch content {
            case .riff, .chunkHead, .frameHead: head.append(data)
            case .alpha, .image: image?.append(data)
            case .exif: exif.append(data.extracting(first: Self.maximumExifBytes - exif.count))
            case .skipped: break
            }
            while contentLeft == 0, !isComplete { try endContent() }
        }
        try image?.decode(isLast: false)
    }

    func finish(_ header: inout ImageHeader) throws(CodecError) {
        if !isComplete {
            // All frames of an animation are needed.
            guard !header.mayBeAnimated, imageSize == nil || content == .image else { throw .truncated(.webp) }
            do throws(CodecError) {
                try image?.decode(isLast: true)
            } catch {
                throw error.isDamage ? .truncated(.webp) : error
            }
            imageSize = nil
            header.warnings.insert(.missingEnd)
        }
        if header.mayBeAnimated {
            guard frames.count > 0 else { throw .corrupt(.webp, "an animation without frames") }
            header.frameCount = frames.count
        } else {
            guard imageSize == nil else { throw .corrupt(.webp, "no image") }
        }
        guard header.hasTrailingOrientation else { return }
        header.hasTrailingOrientation = false
        guard !exif.isEmpty else { return }
        let bytes = exif
        header.orientation = ImageOrientation(exif: bytes.span)
    }

    /// A Boolean value that indicates whether the whole file has been received.
    private var isComplete: Bool { fileLeft == 0 && content == .skipped && contentLeft == 0 && frameLeft == nil }

    private func endContent() throws(CodecError) {
        let bytes = self.head
        let head = bytes.span
        self.head = []
        switch content {
        case .riff:
            guard let size = head.littleEndian32(at: 4), size >= 12 else {
                throw .corrupt(.webp, "no RIFF size")
            }
            fileLeft = size - 4
            beginHead()
        case .chunkHead: try beginChunk(head)
        case .frameHead:
            try beginFrame(head)
            try nextChunk()
        case .image:
            try image?.decode(isLast: true)
            image = nil
            imageSize = nil
            try nextChunk()
        case .alpha, .exif, .skipped: try nextChunk()
        }
    }

    /// Prepares for the next chunk, or the end of the frame or file.
    private func nextChunk() throws(CodecError) {
        if frameLeft == 0 {
            frameLeft = nil
            guard imageSize == nil else { throw .corrupt(.webp, "a frame without an image") }
        }
        let space = frameLeft ?? fileLeft
        guard space >= 8 else {
            // The remainder is not a chunk and belongs to no image.
            content = .skipped
            contentLeft = space
            return
        }
        beginHead()
    }

    private func beginHead() {
        content = .chunkHead
        contentLeft = 8
    }

    private func beginChunk(_ head: Span<UInt8>) throws(CodecError) {
        guard let length = head.littleEndian32(at: 4) else { return }
        let space = frameLeft ?? fileLeft
        guard length <= space else { throw .corrupt(.webp, "a chunk that is longer than the file") }
        // The last chunk can lack the padding byte.
        contentLeft = min(length + length & 1, space)
        let isImage = head.has("VP8 ", at: 0) || head.has("VP8L", at: 0)
        if head.has("ANMF", at: 0), header.mayBeAnimated, frameLeft == nil {
            guard length >= 16 else { throw .corrupt(.webp, "a frame of \(length) bytes") }
            frameLeft = contentLeft
            contentLeft = 16
            content = .frameHead
        } else if isImage || head.has("ALPH", at: 0), let imageSize {
            content = isImage ? .image : .alpha
            if image == nil { image = try WebPImageDecoder(checking: imageSize, tableLimit: header.tableBytes) }
            let declared = max(contentLeft + 8, header.mayBeAnimated ? frameLeft ?? 0 : header.memoryUsage)
            image?.reserve(min(declared, maximumBytes))
            image?.append(head)
        } else if isImage {
            throw .corrupt(.webp, "an image that belongs to no frame")
        } else if head.has("EXIF", at: 0), header.hasTrailingOrientation, exif.isEmpty {
            content = .exif
        } else {
            content = .skipped
        }
    }

    private func beginFrame(_ head: Span<UInt8>) throws(CodecError) {
        guard let left = head.littleEndian24(at: 0), let top = head.littleEndian24(at: 3),
            let width = head.littleEndian24(at: 6), let height = head.littleEndian24(at: 9)
        else { return }
        let size = PixelSize(width: width + 1, height: height + 1)
        guard left * 2 + size.width <= header.size.width, top * 2 + size.height <= header.size.height else {
            throw .corrupt(.webp, "a frame that leaves the canvas")
        }
        try frames.add(size)
        imageSize = size
    }
}
