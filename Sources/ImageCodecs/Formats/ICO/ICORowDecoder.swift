/// Decodes the image of an ICO that suits the target: a PNG, or a bitmap followed by a mask.
final class ICORowDecoder: BuiltInRowDecoder {
    private let header: ImageHeader
    private let size: PixelSize
    private let limits: DecodeLimits
    private let toleratesDamage: Bool
    /// The number of bytes received before those that follow.
    private var position = 0
    /// The received part of the directory, until it is complete.
    private var beginning: [UInt8] = []
    private var entry: IconDirectory.Entry?
    /// The beginning of the image, until its header is complete: of a PNG, its first chunk.
    private var imageBeginning: [UInt8] = []
    private var png: PNGRowDecoder?
    private var bitmap: IconBitmap?

    /// The size of the smallest image that is no smaller than the target.
    static func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize {
        header.sufficientSize(for: target)
    }

    static func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        // The directory, and the most that a PNG or a bitmap can take.
        var image = header
        image.size = rowSize
        image.bitsPerChannel = 16
        image.isProgressive = true
        let png = PNGRowDecoder.workingBytes(of: image, rowSize: rowSize)
        return (2 << 20) + max(png, IconBitmap.workingBytes(rowSize))
    }

    init(
        header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) {
        self.header = header
        size = rowSize
        self.limits = limits
        self.toleratesDamage = toleratesDamage
    }

    func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        var offset = 0
        while entry == nil, offset < bytes.count {
            let missing = IconDirectory.length(beginning.span) - beginning.count
            let end = min(offset + missing, bytes.count)
            beginning.append(bytes.extracting(offset..<end))
            offset = end
            try findEntry()
        }
        try take(bytes.extracting(droppingFirst: offset), to: rows)
    }

    func finish(to rows: any RowSink) throws(CodecError) {
        if let png {
            try ofIcon { () throws(CodecError) in try png.finish(to: rows) }
        } else if bitmap != nil {
            try bitmap?.finish(to: rows)
        } else {
            throw .truncated(.ico)
        }
    }

    var warnings: Set<ImageWarning> { png?.warnings ?? bitmap?.warnings ?? [] }

    func salvage(to rows: any RowSink) {
        png?.salvage(to: rows)
        bitmap?.salvage(to: rows)
    }

    /// Chooses the image once the directory is complete.
    private func findEntry() throws(CodecError) {
        let file = beginning
        guard let directory = try IconDirectory(file.span) else { return }
        let chosen = size == header.size ? directory.largest : directory.best(of: size)
        guard let found = chosen, found.place.lowerBound >= directory.length else {
            throw .corrupt(.ico, "an image inside of the directory")
        }
        entry = found
        position = directory.length
        beginning = []
    }

    /// Takes the part of the next bytes of the file that belongs to the image.
    private func take(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        guard let entry else { return }
        let start = max(entry.place.lowerBound - position, 0)
        let end = min(entry.place.upperBound - position, bytes.count)
        position += bytes.count
        guard start < end else { return }
        let part = bytes.extracting(start..<end)
        var count = 0
        if png == nil, bitmap == nil {
            // The first chunk of a PNG is shorter than the longest header of a bitmap.
            count = min(part.count, Bitmap.maximumHeaderLength - imageBeginning.count)
            imageBeginning.append(part.extracting(first: count))
            try openImage(to: rows)
        }
        let rest = part.extracting(droppingFirst: count)
        if let png {
            try ofIcon { () throws(CodecError) in try png.append(rest, to: rows) }
        } else {
            try bitmap?.append(rest, to: rows)
        }
    }

    /// Creates the decoder of the image once its header is complete.
    private func openImage(to rows: any RowSink) throws(CodecError) {
        let image = imageBeginning
        guard image.count >= 8 else { return }
        if image.span.extracting(first: 8).isPNGSignature {
            var found: ImageHeader?
            try ofIcon { () throws(CodecError) in
                found = try ImageHeader.png(firstChunkOf: image.span, limits: limits)
            }
            guard let found else { return }
            try check(found.size)
            try ofIcon { () throws(CodecError) in
                let decoder = try PNGRowDecoder(
                    header: found, rowSize: size, limits: limits, toleratesDamage: toleratesDamage)
                png = decoder
                try decoder.append(image.span, to: rows)
            }
        } else {
            guard let found = try Bitmap(image.span, at: 0, of: .ico, isIcon: true) else { return }
            try check(found.size)
            bitmap = try IconBitmap(found)
            try bitmap?.append(image.span.extracting(droppingFirst: min(found.paletteOffset, image.count)), to: rows)
        }
        imageBeginning = []
    }

    private func check(_ actual: PixelSize) throws(CodecError) {
        guard actual == size else {
            throw .corrupt(.ico, "an image of \(actual) with an entry for \(size) in the directory")
        }
    }

    /// Names this format in errors of the PNG inside of it.
    private func ofIcon(_ body: () throws(CodecError) -> Void) throws(CodecError) {
        do {
            try body()
        } catch {
            switch error {
            case .truncated: throw .truncated(.ico)
            case .corrupt(_, let detail): throw .corrupt(.ico, "its PNG is corrupt: \(detail)")
            case .unsupportedFeature(_, let detail): throw .unsupportedFeature(.ico, detail)
            default: throw error
            }
        }
    }
}

extension Span<UInt8> {
    /// A Boolean value that indicates whether these eight bytes are the signature of PNG.
    var isPNGSignature: Bool { FormatSignature(.pngSignature).matches(self) }
}
