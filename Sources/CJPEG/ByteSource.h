// The bytes of the file that have come but are not decoded yet, for libjpeg to read. Not seen by Swift.
#ifndef CJPEG_BYTE_SOURCE_H
#define CJPEG_BYTE_SOURCE_H

#include "ErrorFence.h"

/// libjpeg's source manager, first in the struct because libjpeg hands back a pointer to it.
typedef struct ByteSource {
    struct jpeg_source_mgr manager;
    /// Owns the bytes that `manager` points into.
    uint8_t *buffer;
    size_t capacity;
    /// Bytes libjpeg wants skipped that have not come yet.
    size_t bytes_to_skip;
    /// Whether libjpeg reads the markers behind a scan.
    int is_between_scans;
} ByteSource;

void byte_source_install(ByteSource *source, j_decompress_ptr info);
void byte_source_free(ByteSource *source);

/// Appends a copy of the bytes, without those to be skipped. Fails at the fence.
CJPEGStatus byte_source_append(ByteSource *source, ErrorFence *fence, const uint8_t *bytes, size_t count);

/// As jpeg_consume_input of an image that has been started, but so that no invalid code passes without a warning.
///
/// libjpeg-turbo decodes an MCU of a sequential file by a faster function, which takes invalid codes for zeros, if it has
/// 512 bytes for each of its blocks. So it is shown fewer at a time; any MCU fits into them.
int byte_source_consume_strictly(ByteSource *source, j_decompress_ptr info);

#endif
