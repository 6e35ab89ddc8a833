#ifndef JPEG_LOAD_H
#define JPEG_LOAD_H

#include <stdint.h>

/// Fetches a progressive JPEG with libcurl and decodes it with libjpeg as it arrives, as RGBA in memory, without
/// previews.
///
/// It only receives and decodes, so it is the limit for loads with previews. The response must declare its length, and
/// arrive within a minute.
///
/// Returns the number of rows, or 0 if the file cannot be fetched or decoded.
uint32_t jpeg_load(const char *url);

#endif
