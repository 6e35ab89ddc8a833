#include <jxl/decode.h>
#include <jxl/encode.h>
#if __has_include(<jxl/version.h>)
#include <jxl/version.h>
#endif

// libjxl 0.9 removed an unused argument from the functions that return colors.
#if defined(JPEGXL_MAJOR_VERSION) && (JPEGXL_MAJOR_VERSION > 0 || JPEGXL_MINOR_VERSION >= 9)
#define CJXL_UNUSED_FORMAT
#else
#define CJXL_UNUSED_FORMAT NULL,
#endif

/// Returns the colors of the file, or of the decoded pixels, unless only a profile describes them.
static inline JxlDecoderStatus cjxl_get_encoded_profile(
    const JxlDecoder *decoder, JxlColorProfileTarget target, JxlColorEncoding *colors) {
    return JxlDecoderGetColorAsEncodedProfile(decoder, CJXL_UNUSED_FORMAT target, colors);
}

/// Returns the size of the profile of the decoded pixels, in bytes.
static inline JxlDecoderStatus cjxl_get_profile_size(const JxlDecoder *decoder, size_t *size) {
    return JxlDecoderGetICCProfileSize(decoder, CJXL_UNUSED_FORMAT JXL_COLOR_PROFILE_TARGET_DATA, size);
}

/// Copies the profile of the decoded pixels.
static inline JxlDecoderStatus cjxl_get_profile(const JxlDecoder *decoder, uint8_t *profile, size_t size) {
    return JxlDecoderGetColorAsICCProfile(decoder, CJXL_UNUSED_FORMAT JXL_COLOR_PROFILE_TARGET_DATA, profile, size);
}
