#ifndef JPEG_LOOP_H
#define JPEG_LOOP_H

#include <stddef.h>
#include <stdint.h>

/// Decodes a JPEG file in memory with libjpeg at `eighths` of its size, as RGBA, and discards the rows.
///
/// Returns the number of rows, or 0 if the file cannot be decoded.
uint32_t jpeg_loop_decode(const uint8_t *bytes, size_t count, uint32_t eighths);

#endif
