#if SVG
public import ImageCodecs

extension ImageFormat {
    /// SVG, rendered as an image of pixels.
    public static let svg = ImageFormat(name: "SVG", mediaType: "image/svg+xml", fileExtension: "svg")
}

/// SVG, rendered by librsvg in a process of its own: an element of `ImageDecoder.Configuration.customFormats`.
///
/// With a target (`DecodeOptions.target`), an image is rendered at that size, also if it is larger than the declared one.
/// Without a target, it has the declared size, in which relative lengths, such as `100%`, count as missing: then the ratio
/// of the `viewBox` completes the other side, or its size is used; without a `viewBox`, 300 x 150 pixels. A size with a
/// side above 32,767 pixels, or of more than 256 megapixels, is reduced in proportion.
///
/// It can use neither files nor the network, and runs no scripts. The process, `webimage-svg`, can use 10 seconds of
/// processor time, and memory in proportion to the pixels; it is ended when ``timeLimit`` has passed, or the task is
/// canceled.
public struct SVGFormat: WholeFileFormat {
    /// The name, media type, and file extension of the format.
    public let format = ImageFormat.svg

    /// The number of leading bytes in which the element `svg` is looked for.
    public let signatureLength = 4_096

    /// The maximum length of a side, in pixels.
    private static let maximumSide = 32_767

    /// The path of `webimage-svg`; `nil`, the default, if it is in the folder of the running program, or in `PATH`.
    public var program: String?

    /// The maximum time for rendering one image, 20 seconds by default; a quarter of it is the maximum for its size.
    public var timeLimit: Duration

    /// `true`: a few lines can describe much work.
    public let takesLong = true

    /// Creates the format.
    public init(program: String? = nil, timeLimit: Duration = .seconds(20)) {
        self.program = program
        self.timeLimit = timeLimit
    }

    /// Returns whether the file is a text that begins like XML and soon has the element `svg`.
    public func recognizes(_ beginning: Span<UInt8>) -> Bool {
        var start = beginning.has("\u{FEFF}", at: 0) ? 3 : 0
        while let byte = beginning.byte(at: start), byte == 0x20 || (0x09...0x0D).contains(byte) { start += 1 }
        let beginnings: [StaticString] = ["<svg", "<?xml", "<!--", "<!DOCTYPE svg"]
        guard beginnings.contains(where: { beginning.has($0, at: start) }) else { return false }
        for index in start..<beginning.count where beginning[index] == UInt8(ascii: "<") {
            if beginning.has("<html", at: index) { return false }
            if beginning.has("<svg", at: index) || beginning.has("<svg:svg", at: index) { return true }
        }
        return false
    }

    /// Returns the header of a complete file; the size is the declared one, in pixels of 1/96 inch, or a smaller one that
    /// can be rendered.
    public func header(of file: Span<UInt8>) throws(CodecError) -> ImageHeader? {
        let renderer = SVGRenderer(program: program, timeLimit: timeLimit / 4)
        let declared = try renderer.size(of: file)
        var header = ImageHeader(format: .svg, size: declared.size)
        header.proportions = declared.proportions
        header.hasAlpha = true
        return header
    }

    /// Returns the target, with sides of at most 32,767 pixels, the maximum of cairo: rendering is exact at any size.
    public func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize {
        PixelSize(
            width: min(max(target.width, 1), Self.maximumSide), height: min(max(target.height, 1), Self.maximumSide))
    }

    /// Returns the memory that the rendered image and the other process usually take, in bytes.
    ///
    /// The process is ended if it takes more than 96 MiB and 64 bytes per pixel.
    public func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { 16 * rowSize.area + (32 << 20) }

    /// Renders the image.
    public func decode(
        _ file: Span<UInt8>, header: ImageHeader, rowSize: PixelSize, to rows: inout ImageRows
    ) throws(CodecError) {
        try SVGRenderer(program: program, timeLimit: timeLimit).render(file, size: rowSize, to: &rows)
    }
}
#endif
