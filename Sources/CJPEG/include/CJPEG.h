// libjpeg behind plain functions: it reports errors by longjmp, which must not cross Swift frames.
//
// No function here calls back, none writes to stderr, and each returns normally whatever the input is.
#ifndef CJPEG_H
#define CJPEG_H

#include <stddef.h>
#include <stdint.h>

#define CJPEG_SWIFT_NAME(name) __attribute__((swift_name(#name)))

typedef enum __attribute__((enum_extensibility(closed))) CJPEGStatus {
    /// Rows were delivered, or the call did what it is for.
    CJPEG_OK CJPEG_SWIFT_NAME(ok),
    /// All that can be done with the bytes fed so far is done.
    CJPEG_NEEDS_BYTES CJPEG_SWIFT_NAME(needsBytes),
    /// The image is complete, its end marker included.
    CJPEG_ENDED CJPEG_SWIFT_NAME(ended),
    /// The file ends inside its image.
    CJPEG_TRUNCATED CJPEG_SWIFT_NAME(truncated),
    /// The file breaks the rules; see cjpeg_decoder_message.
    CJPEG_CORRUPT CJPEG_SWIFT_NAME(corrupt),
    /// The file uses what this libjpeg cannot do; see cjpeg_decoder_message.
    CJPEG_UNSUPPORTED CJPEG_SWIFT_NAME(unsupported),
    /// The file has more scans than it may have.
    CJPEG_TOO_MANY_SCANS CJPEG_SWIFT_NAME(tooManyScans),
    /// Memory is out, or more was asked for than the limit allows.
    CJPEG_OUT_OF_MEMORY CJPEG_SWIFT_NAME(outOfMemory),
} CJPEGStatus;

typedef struct CJPEGDecoder CJPEGDecoder;

/// What a decoder is made for. The sizes are those the caller sized its own buffers by; a file that says otherwise is
/// corrupt.
typedef struct CJPEGDecoderSetup {
    uint32_t stored_width;
    uint32_t stored_height;
    uint32_t row_width;
    uint32_t row_height;
    /// The image is scaled by this many eighths, 1 to 8.
    uint32_t eighths;
    uint32_t maximum_scans;
    /// Of a file of several scans, keep no more than what an image of 1/8 of its size needs; `eighths` must be 1.
    int coarse;
    /// The maximum number of bytes for the coefficients of a file of several scans that is not coarse.
    size_t maximum_coefficient_bytes;
    /// Go on behind damaged data, with gray pixels, instead of failing.
    int tolerates_damage;
    /// Make no pixels: only cjpeg_decoder_check may be called then. `eighths` must be 1, and `coarse` 0.
    int checks_only;
} CJPEGDecoderSetup;

/// The maximum number of bytes cjpeg_decoder_feed takes at once.
enum { CJPEG_LARGEST_PIECE = 32 * 1024 };

/// The maximum number of bytes that are held until they can be decoded: of a file with arithmetic coding all, of
/// others less than 128 KiB.
enum { CJPEG_MOST_HELD_BYTES = 64 * 1024 * 1024 };

/// NULL if memory is out.
CJPEGDecoder *_Nullable cjpeg_decoder_create(CJPEGDecoderSetup setup);
void cjpeg_decoder_destroy(CJPEGDecoder *_Nullable decoder);

/// Copies the next bytes of the file, at most CJPEG_LARGEST_PIECE. Call cjpeg_decoder_read_rows until it needs bytes
/// before feeding again. Returns CJPEG_OK, CJPEG_UNSUPPORTED or CJPEG_OUT_OF_MEMORY.
CJPEGStatus cjpeg_decoder_feed(CJPEGDecoder *_Nonnull decoder, const uint8_t *_Nullable bytes, size_t count);

/// Says that no bytes will follow: from now on cjpeg_decoder_read_rows never needs bytes.
void cjpeg_decoder_end_input(CJPEGDecoder *_Nonnull decoder);

/// Decodes as far as the bytes go: the header, all scans of a file of several, then up to `capacity / (4 * width)` rows
/// of RGBA, or of four inks, into `rows`. CJPEG_OK means that `*row_count`, at least 1, rows were written.
CJPEGStatus cjpeg_decoder_read_rows(
    CJPEGDecoder *_Nonnull decoder, uint8_t *_Nonnull rows, size_t capacity, uint32_t *_Nonnull row_count);

/// Decodes the entropy-coded data of all scans as far as the bytes go, without pixels: CJPEG_NEEDS_BYTES, or CJPEG_ENDED
/// once the end marker has been read. Bytes that belong to nothing, scans that do not follow from those before them, and a
/// channel without a scan are errors, too. Of a progressive file it holds a bit for each coefficient, which
/// `maximum_coefficient_bytes` does not count.
CJPEGStatus cjpeg_decoder_check(CJPEGDecoder *_Nonnull decoder);

/// The number of complete scans that can be rendered by the preview functions; 0 if the file has but one.
uint32_t cjpeg_decoder_complete_scans(const CJPEGDecoder *_Nonnull decoder);

/// Starts to render what is known after the latest complete scan, at that many eighths of the stored size: no more than
/// the setup's. Read all its rows before doing anything else.
CJPEGStatus cjpeg_decoder_begin_preview(CJPEGDecoder *_Nonnull decoder, uint32_t eighths);

/// As cjpeg_decoder_read_rows, but of the preview: CJPEG_OK with rows, CJPEG_ENDED when all have been read.
CJPEGStatus cjpeg_decoder_read_preview_rows(
    CJPEGDecoder *_Nonnull decoder, uint8_t *_Nonnull rows, size_t capacity, uint32_t *_Nonnull row_count);

/// Whether there were damaged data, which only a decoder that tolerates them survives.
int cjpeg_decoder_is_damaged(const CJPEGDecoder *_Nonnull decoder);

/// After a failure: starts to read the rows that can still be had, by cjpeg_decoder_read_preview_rows. Of a file of
/// several scans it renders what had come by then, at the setup's scale; of the first scan those rows that are complete.
CJPEGStatus cjpeg_decoder_begin_salvage(CJPEGDecoder *_Nonnull decoder);

/// Makes RGBA of pixels of four inks without a profile, if the file has such. Inks are taken for inverted, 255 being none,
/// whether or not Adobe's marker says so, as Firefox, Chrome, WebKit and djpeg do (libvips and Pillow go by the marker).
void cjpeg_decoder_convert_inks(const CJPEGDecoder *_Nonnull decoder, uint8_t *_Nonnull pixels, size_t count);

/// Why the last call failed, as libjpeg puts it. Good until the next call.
const char *_Nonnull cjpeg_decoder_message(const CJPEGDecoder *_Nonnull decoder);

#endif
