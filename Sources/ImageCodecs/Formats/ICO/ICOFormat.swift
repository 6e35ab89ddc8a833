extension ImageFormat {
    /// ICO, icons of Windows and of web sites.
    public static let ico = ImageFormat(
        builtIn: "ICO", mediaType: "image/vnd.microsoft.icon", fileExtension: "ico")
}

/// The entry of ICO in the ``FormatTable``.
struct ICOFormat: BuiltInFormat {
    typealias Decoder = ICORowDecoder
    typealias Verifier = DecodingVerifier<ICORowDecoder>

    let format = ImageFormat.ico
    let signatures = [FormatSignature("\0\0\u{1}\0")]

    func header(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        guard let directory = try IconDirectory(beginning), let largest = directory.largest,
            let size = try size(of: largest, directory, beginning, limits)
        else { return nil }
        try limits.check(size, .ico)
        var header = ImageHeader(format: .ico, size: size)
        header.hasAlpha = true
        header.smallerSizes = directory.smallerSizes(than: size)
        return header
    }

    /// Returns the size of an image: the declared one, unless a side is too long to be declared; `nil` if more bytes are
    /// needed.
    private func size(
        of entry: IconDirectory.Entry, _ directory: IconDirectory, _ bytes: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) -> PixelSize? {
        let start = entry.place.lowerBound
        guard entry.isOpenEnded, start >= directory.length else { return entry.size }
        guard bytes.has(8, at: start) else { return nil }
        let image = bytes.extracting(droppingFirst: start)
        do throws(CodecError) {
            return image.extracting(first: 8).isPNGSignature
                ? try ImageHeader.png(firstChunkOf: image, limits: limits)?.size
                : try Bitmap(image, at: 0, of: .ico, isIcon: true)?.size
        } catch {
            if case .overLimit = error { throw error }
            // A smaller image can be intact.
            return entry.size
        }
    }
}
