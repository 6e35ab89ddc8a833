/// The properties of a packed image, read from its bytes.
struct PackedProperties {
    let size: PixelSize
    let format: PixelFormat
    /// A Boolean value that indicates whether the rows have no alpha, because the image is opaque.
    let omitsAlpha: Bool
    private let originalSize: PixelSize
    private let visibleSize: PixelSize
    private let completeRows: Int
    private let header: ImageHeader
    private let profile: [UInt8]?

    /// The maximum number of pixels along one side of an image in a file.
    private static let maximumFileSide = Int(Int32.max)

    /// The number of bytes of the packed rows.
    var packedByteCount: Int { size.area * (omitsAlpha ? 3 : format.bytesPerPixel) }

    /// Reads properties; returns `nil` if the bytes are not those of properties.
    init?(_ bytes: Span<UInt8>) {
        var offset = 0
        func number() -> Int? {
            guard let low = bytes.littleEndian32(at: offset), let high = bytes.littleEndian32(at: offset + 4),
                high < 1 << 16
            else { return nil }
            offset += 8
            return high << 32 | low
        }
        func size(_ maximum: Int) -> PixelSize? {
            guard let width = number(), let height = number(), (1...maximum).contains(width),
                (1...maximum).contains(height)
            else { return nil }
            return PixelSize(width: width, height: height)
        }
        func data() -> [UInt8]? {
            guard let count = number(), bytes.has(count, at: offset) else { return nil }
            defer { offset += count }
            return Array(copying: bytes.extracting(offset..<offset + count))
        }
        func text() -> String? { data().map { String(decoding: $0, as: UTF8.self) } }
        func flag() -> Bool? {
            guard let byte = bytes.byte(at: offset), byte <= 1 else { return nil }
            offset += 1
            return byte == 1
        }

        guard let format = text().flatMap(PixelFormat.init), format.bytesPerPixel <= 4,
            let pixels = size(PackedImage.maximumSide), let original = size(Self.maximumFileSide),
            let visible = size(Self.maximumFileSide), let stored = size(Self.maximumFileSide),
            let completeRows = number(), let name = text(),
            let file = ImageFormat.allBuiltIn.first(where: { $0.identifier == name }),
            let orientation = number().flatMap(ImageOrientation.init), let bits = number(), let channels = number(),
            let conversion = text().flatMap(ColorConversion.init), let tableBytes = number(),
            let memoryUsage = number(), let hasAlpha = flag(), let isProgressive = flag(),
            let hasTrailingOrientation = flag(), let isGray = flag(), let hasSeparateScans = flag(),
            let hasColorProfile = flag(), let hasProfile = flag(), let samplingCount = number(), samplingCount <= 16
        else { return nil }
        var header = ImageHeader(format: file, size: stored)
        for _ in 0..<samplingCount {
            guard let factors = size(255) else { return nil }
            header.sampling.append(SamplingFactors(horizontal: factors.width, vertical: factors.height))
        }
        guard let warnings = text(), let colorProfile = text(), let profile = data(), let omitsAlpha = flag(),
            offset == bytes.count, !omitsAlpha || format.bytesPerPixel == 4
        else { return nil }
        header.orientation = orientation
        header.warnings = Set(warnings.split(separator: " ").compactMap { ImageWarning(rawValue: String($0)) })
        header.bitsPerChannel = bits
        header.colorChannels = channels
        header.colorConversion = conversion
        header.tableBytes = tableBytes
        header.memoryUsage = memoryUsage
        header.hasAlpha = hasAlpha
        header.isProgressive = isProgressive
        header.hasTrailingOrientation = hasTrailingOrientation
        header.isGray = isGray
        header.hasSeparateScans = hasSeparateScans
        header.colorProfile = hasColorProfile ? colorProfile : nil
        (self.size, self.format, self.omitsAlpha, self.header) = (pixels, format, omitsAlpha, header)
        (originalSize, visibleSize, self.completeRows) = (original, visible, completeRows)
        self.profile = hasProfile ? profile : nil
    }

    /// Returns the image with these pixels; `nil` if their number is another one.
    func image(_ bytes: [UInt8]) -> DecodedImage? {
        PixelBuffer(size: size, bytes: bytes, format: format).map { pixels in
            DecodedImage(
                pixels: pixels, header: header, originalSize: originalSize, visibleSize: visibleSize,
                completeRows: completeRows, iccProfile: profile)
        }
    }
}
