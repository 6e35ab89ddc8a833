// libjpeg with plain functions: it reports errors by longjmp, which must not cross Swift frames.
//
// No function calls back or writes to stderr, and all of them return normally for any input.
#ifndef CJPEG_H
#define CJPEG_H

#include <stddef.h>
#include <stdint.h>

#define CJPEG_SWIFT_NAME(name) __attribute__((swift_name(#name)))

typedef enum __attribute__((enum_extensibility(closed))) CJPEGStatus {
    /// Rows were delivered, or the call succeeded.
    CJPEG_OK CJPEG_SWIFT_NAME(ok),
    /// The received bytes have been processed as far as possible.
    CJPEG_NEEDS_BYTES CJPEG_SWIFT_NAME(needsBytes),
    /// The image is complete, and so is the file, but for deviations.
    CJPEG_ENDED CJPEG_SWIFT_NAME(ended),
    /// The file ends inside its image.
    CJPEG_TRUNCATED CJPEG_SWIFT_NAME(truncated),
    /// The file violates the format; see cjpeg_decoder_message.
    CJPEG_CORRUPT CJPEG_SWIFT_NAME(corrupt),
    /// The file uses a feature that this libjpeg does not support; see cjpeg_decoder_message.
    CJPEG_UNSUPPORTED CJPEG_SWIFT_NAME(unsupported),
    /// The file has too many scans.
    CJPEG_TOO_MANY_SCANS CJPEG_SWIFT_NAME(tooManyScans),
    /// Memory could not be allocated, or the limit was exceeded.
    CJPEG_OUT_OF_MEMORY CJPEG_SWIFT_NAME(outOfMemory),
} CJPEGStatus;

/// Deviations from the format that leave no pixel missing or doubtful, as bits.
enum {
    /// The end marker is missing after the last block.
    CJPEG_MISSING_END = 1 << 0,
    /// Bytes belong neither to a marker segment nor to a block.
    CJPEG_EXTRA_BYTES = 1 << 1,
};

typedef struct CJPEGDecoder CJPEGDecoder;

/// The settings of a decoder. The sizes are those of the caller's buffers; a file with other sizes is corrupt.
typedef struct CJPEGDecoderSetup {
    uint32_t stored_width;
    uint32_t stored_height;
    uint32_t row_width;
    uint32_t row_height;
    /// The scale of the image in eighths, 1 to 8.
    uint32_t eighths;
    uint32_t maximum_scans;
    /// Nonzero to keep only the lowest frequencies of a multi-scan file; `eighths` must be 1.
    int is_coarse;
    /// Zero if the caller omits all scans of a coarse decode that refine AC coefficients.
    int has_refinements;
    /// The maximum number of bytes for the coefficients of a multi-scan file that is decoded completely.
    size_t maximum_coefficient_bytes;
    /// Nonzero to continue after damaged data, with gray pixels, instead of failing.
    int tolerates_damage;
    /// Nonzero to decode without pixels: only cjpeg_decoder_check may be called. `eighths` must be 1, and `is_coarse`
    /// must be 0.
    int checks_only;
} CJPEGDecoderSetup;

/// The maximum number of bytes that cjpeg_decoder_feed accepts at once.
enum { CJPEG_LARGEST_PIECE = 32 * 1024 };

/// The maximum number of bytes that are held until they can be decoded: the whole file with arithmetic coding, less
/// than 128 KiB otherwise.
enum { CJPEG_MOST_HELD_BYTES = 64 * 1024 * 1024 };

/// Creates a decoder. NULL if out of memory.
CJPEGDecoder *_Nullable cjpeg_decoder_create(CJPEGDecoderSetup setup);
void cjpeg_decoder_destroy(CJPEGDecoder *_Nullable decoder);

/// Copies the next bytes of the file, at most CJPEG_LARGEST_PIECE. Call cjpeg_decoder_read_rows until it needs bytes
/// before calling this function again. Returns CJPEG_OK, CJPEG_UNSUPPORTED, or CJPEG_OUT_OF_MEMORY.
CJPEGStatus cjpeg_decoder_feed(CJPEGDecoder *_Nonnull decoder, const uint8_t *_Nullable bytes, size_t count);

/// Ends the input: from now on, cjpeg_decoder_read_rows never needs bytes.
void cjpeg_decoder_end_input(CJPEGDecoder *_Nonnull decoder);

/// Decodes the received bytes: the header, all scans of a multi-scan file, then up to `capacity / (4 * width)` rows
/// of RGBA or CMYK into `rows`. CJPEG_OK means that `*row_count`, at least 1, rows were written.
CJPEGStatus cjpeg_decoder_read_rows(
    CJPEGDecoder *_Nonnull decoder, uint8_t *_Nonnull rows, size_t capacity, uint32_t *_Nonnull row_count);

/// Decodes the received entropy-coded data of all scans without pixels. Returns CJPEG_NEEDS_BYTES, or CJPEG_ENDED
/// once the end of the file has been read. Unexpected bytes that may be pixels, scans inconsistent with earlier ones,
/// and channels without a scan are errors, too. For a progressive file, it holds one bit per coefficient, which
/// `maximum_coefficient_bytes` does not include.
CJPEGStatus cjpeg_decoder_check(CJPEGDecoder *_Nonnull decoder);

/// Returns the number of complete scans that the preview functions can render; 0 if the file has only one.
uint32_t cjpeg_decoder_complete_scans(const CJPEGDecoder *_Nonnull decoder);

/// Returns nonzero if the complete scans contain AC coefficients of the first channel. Without them, a preview at 1/8
/// shows everything that has been received of that channel.
int cjpeg_decoder_has_detail(const CJPEGDecoder *_Nonnull decoder);

/// Starts to render the latest complete scan at this many eighths of the stored size, at most the setup's. Read all
/// its rows before calling other functions.
CJPEGStatus cjpeg_decoder_begin_preview(CJPEGDecoder *_Nonnull decoder, uint32_t eighths);

/// Like cjpeg_decoder_read_rows for the preview: CJPEG_OK with rows, CJPEG_ENDED when all have been read.
CJPEGStatus cjpeg_decoder_read_preview_rows(
    CJPEGDecoder *_Nonnull decoder, uint8_t *_Nonnull rows, size_t capacity, uint32_t *_Nonnull row_count);

/// Returns the deviations from the format that have been found, such as CJPEG_MISSING_END.
uint32_t cjpeg_decoder_deviations(const CJPEGDecoder *_Nonnull decoder);

/// Returns nonzero if damaged data has been tolerated.
int cjpeg_decoder_is_damaged(const CJPEGDecoder *_Nonnull decoder);

/// After a failure, starts to read the rows that can be recovered, with cjpeg_decoder_read_preview_rows. For a
/// multi-scan file, it renders the received scans at the setup's scale, and of a first scan only the complete rows.
CJPEGStatus cjpeg_decoder_begin_salvage(CJPEGDecoder *_Nonnull decoder);

/// Converts CMYK pixels without a profile to RGBA, if the file is CMYK. The samples are assumed to be inverted, 255
/// being no ink, regardless of Adobe's marker, as in Firefox, Chrome, WebKit, and djpeg (libvips and Pillow use the
/// marker).
void cjpeg_decoder_convert_inks(const CJPEGDecoder *_Nonnull decoder, uint8_t *_Nonnull pixels, size_t count);

/// Returns the reason of the last failure, as reported by libjpeg. Valid until the next call.
const char *_Nonnull cjpeg_decoder_message(const CJPEGDecoder *_Nonnull decoder);

#endif
