// libpng's encoder with functions that catch its jumps, like the decoder in CPNG. A separate target, so that programs
// that only read do not link it.
#ifndef CPNG_WRITER_H
#define CPNG_WRITER_H

#include <CPNG.h>

/// An image to write, with the numbers of the PNG specification.
typedef struct {
    uint32_t width, height;
    int color_type, bit_depth;
    /// The compression level, 0 to 9.
    int compression_level;
    /// The colors of an indexed image, RGBA, at most 256; those that are not opaque come first.
    const uint8_t *palette;
    int palette_count, transparent_count;
    /// The rows without padding, one byte per sample below 16 bits; RGB is followed by an unused sample.
    const uint8_t *rows;
    size_t row_bytes;
} cpng_image;

/// False: see the message.
bool cpng_write(cpng_file *file, const cpng_image *image);

/// Creates a zlib stream. Release the file in any case.
bool cpng_deflate(cpng_file *file, const uint8_t *bytes, size_t count);

#endif
