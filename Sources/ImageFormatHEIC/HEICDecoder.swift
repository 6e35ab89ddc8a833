#if HEIC
import CHEIF
import ImageCodecs

/// Owns a context of libheif that has parsed a file, and its primary image.
@safe
final class HEICDecoder {
    /// The maximum number of thumbnails that are looked at.
    private static let maximumThumbnails = 8

    private let context: OpaquePointer
    private let image: HEICImage

    /// Calls `body` with a decoder that has parsed `file`.
    static func withDecoder<Result>(
        of file: Span<UInt8>, _ body: (HEICDecoder) throws(CodecError) -> Result
    ) throws(CodecError) -> Result {
        guard !file.endsInsideABox else { throw .truncated(.heic) }
        return try unsafe file.withUnsafeBufferPointer { (bytes) throws(CodecError) -> Result in
            try body(unsafe HEICDecoder(bytes))
        }
    }

    /// Parses `file`, which must exist for as long as the decoder.
    private init(_ file: UnsafeBufferPointer<UInt8>) throws(CodecError) {
        guard let context = unsafe heif_context_alloc() else { throw .outOfMemory(.heic) }
        do throws(CodecError) {
            // Without threads of its own.
            unsafe heif_context_set_max_decoding_threads(context, 0)
            try unsafe check(heif_context_read_from_memory_without_copy(context, file.baseAddress, file.count, nil))
            var handle: OpaquePointer?
            try unsafe check(heif_context_get_primary_image_handle(context, &handle))
            image = try unsafe HEICImage(handle)
            try unsafe HEICLimits(of: image).check(file.span)
            // Applies to the canvas of a grid, which has a size of its own.
            let side = Int32(clamping: max(image.storedSize.width, image.storedSize.height) + 1)
            unsafe heif_context_set_maximum_image_size_limit(context, side)
        } catch {
            unsafe heif_context_free(context)
            throw error
        }
        unsafe self.context = context
    }

    deinit {
        unsafe heif_context_free(context)
    }

    /// The header of the image, which libheif turns upright.
    var header: ImageHeader {
        get throws(CodecError) {
            var header = ImageHeader(format: .heic, size: image.size)
            header.frameCount = 1
            header.hasAlpha = image.hasAlpha
            header.bitsPerChannel = image.bitsPerChannel
            header.smallerSizes = try thumbnails.map(\.size)
            return header
        }
    }

    /// The thumbnails that show the whole image in the same way.
    private var thumbnails: [HEICImage] {
        get throws(CodecError) {
            var thumbnails: [HEICImage] = []
            for thumbnail in try image.thumbnails(maximumCount: Self.maximumThumbnails)
            where thumbnail.size.isReduction(of: image.size) && thumbnail.hasAlpha == image.hasAlpha
                && thumbnail.bitsPerChannel == image.bitsPerChannel && (try? HEICLimits(of: thumbnail)) != nil
            {
                thumbnails.append(thumbnail)
            }
            return thumbnails
        }
    }

    var colorProfile: [UInt8]? { image.colorProfile }

    var exif: [UInt8]? { image.exif }

    /// Decodes the image or thumbnail of `size`, and passes its rows.
    func decode(_ header: ImageHeader, size: PixelSize, to rows: inout ImageRows) throws(CodecError) {
        let chosen = size == image.size ? image : try thumbnails.first { $0.size == size }
        guard let chosen else { throw .corrupt(.heic, "there is no image of \(size)") }
        guard chosen.hasAlpha == header.hasAlpha, chosen.bitsPerChannel == header.bitsPerChannel else {
            throw .corrupt(.heic, "the image is not the one of the header")
        }
        try HEICPixels(chosen).pass(to: &rows)
    }
}

/// Throws the error that a result of libheif stands for.
func check(_ result: heif_error) throws(CodecError) {
    guard unsafe result.code != heif_error_Ok else { return }
    let message = unsafe result.message.map { unsafe String(cString: $0) } ?? "error \(result.code.rawValue)"
    if unsafe result.subcode == heif_suberror_End_of_data { throw .truncated(.heic) }
    switch unsafe result.code {
    case heif_error_Unsupported_feature, heif_error_Unsupported_filetype:
        throw .unsupportedFeature(.heic, message)
    case heif_error_Memory_allocation_error where unsafe result.subcode != heif_suberror_Security_limit_exceeded:
        throw .outOfMemory(.heic)
    default: throw .corrupt(.heic, message)
    }
}

extension PixelSize {
    /// Returns whether an image of this size can be one of `other` that has been reduced, with rounding.
    fileprivate func isReduction(of other: PixelSize) -> Bool {
        guard width < other.width, height < other.height, width > 0, height > 0 else { return false }
        return abs(width * other.height - height * other.width) <= max(other.width, other.height)
    }
}
#endif
