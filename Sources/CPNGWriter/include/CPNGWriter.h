// libpng's encoder behind functions that catch its jumps, as CPNG has its decoder. A target of its own, so that programs
// that only read do not link it.
#ifndef CPNG_WRITER_H
#define CPNG_WRITER_H

#include <CPNG.h>

/// An image to be written, by the numbers of PNG.
typedef struct {
    uint32_t width, height;
    int color_type, bit_depth;
    /// 0 to 9.
    int compression_level;
    /// The colors of an indexed image, RGBA, at most 256, those that are not opaque first.
    const uint8_t *palette;
    int palette_count, transparent_count;
    /// Rows without padding, a byte a sample if that has fewer than 16 bits; RGB followed by a byte or sample of no use.
    const uint8_t *rows;
    size_t row_bytes;
} cpng_image;

/// False: see the message.
bool cpng_write(cpng_file *file, const cpng_image *image);

/// Makes a zlib stream; to be freed in any case.
bool cpng_deflate(cpng_file *file, const uint8_t *bytes, size_t count);

#endif
