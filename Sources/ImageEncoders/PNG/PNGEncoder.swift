import CPNGWriter
import ImageCodecs

/// Encodes PNG with libpng.
struct PNGEncoder: ImageEncoder {
    let format = ImageFormat.png
    let storesAnimations = true
    private let options: PNGOptions

    init(_ options: PNGOptions) {
        self.options = options
    }

    var supports16Bit: Bool { true }

    var identity: String { "png \(options.compressionLevel) \(options.reducesColors)" }

    func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int { size.area * 8 }

    /// Returns the encoded image.
    func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) throws(CodecError) -> [UInt8] {
        let form =
            pixels.format == .rgba16
            ? PNGForm(pixels.isOpaque ? .rgb : .rgba, bitDepth: 16)
            : options.reducesColors
                ? PNGForm(fewestBitsFor: pixels, profile: metadata.profileColors)
                : PNGForm(pixels.isOpaque ? .rgb : .rgba)
        let chunks = try metadata.pngChunks(isGray: form.isGray)
        var file = try encode(pixels, as: form)
        // After the signature and IHDR, before the palette.
        file.insert(contentsOf: chunks, at: 33)
        return file
    }

    func animationWriter(
        size: PixelSize, repetitionCount: Int, metadata: ImageMetadata
    ) throws(CodecError) -> any AnimationWriter {
        try APNGWriter(self, size: size, repetitionCount: repetitionCount, metadata: metadata)
    }

    /// Returns the image encoded with a suitable color type.
    func encode(_ pixels: PixelBuffer, as form: PNGForm) throws(CodecError) -> [UInt8] {
        guard let width = UInt32(exactly: pixels.width), let height = UInt32(exactly: pixels.height) else {
            throw .encodingFailed(.png, "too many pixels on one side")
        }
        var image = unsafe cpng_image()
        unsafe (image.width, image.height) = (width, height)
        unsafe (image.color_type, image.bit_depth) = (form.colorType.rawValue, Int32(form.bitDepth))
        unsafe image.compression_level = Int32(min(max(options.compressionLevel, 0), 9))
        unsafe image.palette_count = Int32(form.palette?.count ?? 0)
        unsafe image.transparent_count = Int32(form.palette?.transparentCount ?? 0)
        let rows = Self.samples(of: pixels, as: form)
        unsafe image.row_bytes = rows.count / pixels.height

        var file = unsafe cpng_file()
        defer { unsafe cpng_file_free(&file) }
        let isWritten = unsafe (form.palette?.colors ?? []).withUnsafeBufferPointer { colors in
            unsafe rows.withUnsafeBufferPointer { bytes in
                unsafe (image.palette, image.rows) = (colors.baseAddress, bytes.baseAddress)
                return unsafe cpng_write(&file, &image)
            }
        }
        guard isWritten else {
            let message = unsafe withUnsafeBytes(of: file.message) { characters in
                unsafe String(decoding: characters.prefix { $0 != 0 }, as: UTF8.self)
            }
            throw .encodingFailed(.png, message)
        }
        return unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }

    /// Returns the rows in the layout of `cpng_write`.
    private static func samples(of pixels: PixelBuffer, as form: PNGForm) -> [UInt8] {
        let bytes = pixels.bytes
        switch form.colorType {
        case .rgb, .rgba: return bytes
        case .indexed: return form.palette?.indices ?? []
        case .gray:
            let step = UInt8(255 / (1 << form.bitDepth - 1))
            return stride(from: 0, to: bytes.count, by: 4).map { bytes[$0] / step }
        case .grayAlpha:
            var samples: [UInt8] = []
            samples.reserveCapacity(pixels.size.area * 2)
            for pixel in stride(from: 0, to: bytes.count, by: 4) {
                samples.append(bytes[pixel])
                samples.append(bytes[pixel + 3])
            }
            return samples
        }
    }
}
