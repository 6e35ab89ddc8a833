// libjpeg's encoder with plain functions, like the decoder in CJPEG. A separate target, so that programs that only
// read do not link it.
#ifndef CJPEG_WRITER_H
#define CJPEG_WRITER_H

#include <CJPEG.h>

typedef struct CJPEGEncoder CJPEGEncoder;

/// The settings of an encoder.
typedef struct CJPEGEncoderSetup {
    uint32_t width;
    uint32_t height;
    /// The quality, from 1 (smallest) to 100 (best).
    uint32_t quality;
    int progressive;
    /// The number of luma samples per chroma sample, horizontally and vertically: 1 or 2.
    uint32_t horizontal_factor;
    uint32_t vertical_factor;
    /// Nonzero to write only luma.
    int grayscale;
} CJPEGEncoderSetup;

/// Creates an encoder. NULL if out of memory; cjpeg_encoder_begin reports problems with the setup.
CJPEGEncoder *_Nullable cjpeg_encoder_create(CJPEGEncoderSetup setup);
void cjpeg_encoder_destroy(CJPEGEncoder *_Nullable encoder);

CJPEGStatus cjpeg_encoder_begin(CJPEGEncoder *_Nonnull encoder);
/// Writes a segment of up to 65,533 bytes; only before the first row.
CJPEGStatus cjpeg_encoder_write_segment(
    CJPEGEncoder *_Nonnull encoder, int marker, const uint8_t *_Nullable bytes, uint32_t count);
/// Writes the next row: RGBA, alpha ignored.
CJPEGStatus cjpeg_encoder_write_row(CJPEGEncoder *_Nonnull encoder, const uint8_t *_Nonnull row);
/// Completes the file, which then consists of `*count` bytes at `*bytes`, owned by the encoder.
CJPEGStatus cjpeg_encoder_finish(
    CJPEGEncoder *_Nonnull encoder, const uint8_t *_Nullable *_Nonnull bytes, size_t *_Nonnull count);

/// Returns the reason of the last failure, as reported by libjpeg. Valid until the next call.
const char *_Nonnull cjpeg_encoder_message(const CJPEGEncoder *_Nonnull encoder);

#endif
