#if HEIC
import CHEIF
import ImageCodecs

/// Owns a reference to an image in a file: its properties, without pixels.
@safe
final class HEICImage {
    let handle: OpaquePointer

    /// Takes the ownership of a result of libheif.
    init(_ handle: OpaquePointer?) throws(CodecError) {
        guard let handle = unsafe handle else { throw .corrupt(.heic, "there is no image") }
        unsafe self.handle = handle
    }

    deinit {
        unsafe heif_image_handle_release(handle)
    }

    /// The size of the image as it is shown.
    var size: PixelSize {
        PixelSize(
            width: Int(unsafe heif_image_handle_get_width(handle)),
            height: Int(unsafe heif_image_handle_get_height(handle)))
    }

    /// The size of the image before it is cropped and turned.
    var storedSize: PixelSize {
        PixelSize(
            width: Int(unsafe heif_image_handle_get_ispe_width(handle)),
            height: Int(unsafe heif_image_handle_get_ispe_height(handle)))
    }

    var hasAlpha: Bool { unsafe heif_image_handle_has_alpha_channel(handle) != 0 }

    var isPremultiplied: Bool { unsafe heif_image_handle_is_premultiplied_alpha(handle) != 0 }

    var bitsPerChannel: Int { max(8, Int(unsafe heif_image_handle_get_luma_bits_per_pixel(handle))) }

    /// Returns the embedded thumbnails.
    func thumbnails(maximumCount: Int) throws(CodecError) -> [HEICImage] {
        var identifiers = [heif_item_id](repeating: 0, count: maximumCount)
        let count = unsafe heif_image_handle_get_list_of_thumbnail_IDs(handle, &identifiers, Int32(maximumCount))
        var thumbnails: [HEICImage] = []
        for identifier in identifiers.prefix(max(0, Int(count))) {
            var thumbnail: OpaquePointer?
            try unsafe check(heif_image_handle_get_thumbnail(handle, identifier, &thumbnail))
            thumbnails.append(try unsafe HEICImage(thumbnail))
        }
        return thumbnails
    }

    /// The embedded profile, or one that the code points describe; `nil` for sRGB.
    var colorProfile: [UInt8]? {
        let count = unsafe heif_image_handle_get_raw_color_profile_size(handle)
        if count > 0, count <= ImageMetadata.maximumBytes {
            var profile = [UInt8](repeating: 0, count: count)
            return unsafe heif_image_handle_get_raw_color_profile(handle, &profile).code == heif_error_Ok
                ? profile : nil
        }
        var colors: UnsafeMutablePointer<heif_color_profile_nclx>?
        let result = unsafe heif_image_handle_get_nclx_color_profile(handle, &colors)
        guard unsafe result.code == heif_error_Ok, let colors = unsafe colors else { return nil }
        defer { unsafe heif_nclx_color_profile_free(colors) }
        return unsafe CodedColors.profile(
            primaries: Int(colors.pointee.color_primaries.rawValue),
            transfer: Int(colors.pointee.transfer_characteristics.rawValue))
    }

    /// The Exif data, from its header.
    var exif: [UInt8]? {
        var identifier: heif_item_id = 0
        guard unsafe heif_image_handle_get_list_of_metadata_block_IDs(handle, "Exif", &identifier, 1) == 1 else {
            return nil
        }
        let count = unsafe heif_image_handle_get_metadata_size(handle, identifier)
        guard count > 4, count <= ImageMetadata.maximumBytes else { return nil }
        var data = [UInt8](repeating: 0, count: count)
        guard unsafe heif_image_handle_get_metadata(handle, identifier, &data).code == heif_error_Ok else { return nil }
        // The distance from the end of this number to the data.
        let start = 4 + (data.span.bigEndian32(at: 0) ?? 0)
        return start < count ? Array(data[start...]) : nil
    }
}
#endif
