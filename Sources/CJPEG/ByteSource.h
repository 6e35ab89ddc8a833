// The received bytes of the file that are not decoded yet, for libjpeg to read. Not visible to Swift.
#ifndef CJPEG_BYTE_SOURCE_H
#define CJPEG_BYTE_SOURCE_H

#include "ErrorFence.h"
#include "SegmentEnd.h"

/// libjpeg's source manager, the first member because libjpeg passes back a pointer to it.
typedef struct ByteSource {
    struct jpeg_source_mgr manager;
    /// Owns the bytes that `manager` points into.
    uint8_t *buffer;
    size_t capacity;
    /// The number of bytes that libjpeg skips and that have not been received yet.
    size_t bytes_to_skip;
    /// Nonzero if the last bytes are an end marker that the file lacks.
    int has_added_end;
    /// Nonzero if the markers after a scan are being read.
    int is_between_scans;
    SegmentEnd segment_end;
} ByteSource;

void byte_source_install(ByteSource *source, j_decompress_ptr info);
void byte_source_free(ByteSource *source);

/// Appends a copy of the bytes, without those to skip; with `is_arithmetic`, the whole file can be held. Fails at the
/// fence.
CJPEGStatus byte_source_append(ByteSource *source, ErrorFence *fence, const uint8_t *bytes, size_t count,
                               int is_arithmetic);

/// Appends an end marker to a file that ends without one. Returns 0 if it has been added before, or fails.
int byte_source_add_end(ByteSource *source, ErrorFence *fence);

/// Drops the received bytes.
void byte_source_drop(ByteSource *source);

/// Like jpeg_consume_input for a started image, but reports a warning for every invalid code.
///
/// Sequential files need it only if HuffmanDecoder, which always reports them, is not available. Then, libjpeg-turbo
/// decodes an MCU with a faster function, which treats invalid codes as zeros, if 512 bytes are available for each of
/// its blocks. Therefore it gets fewer at a time; any MCU fits into them.
int byte_source_consume_strictly(ByteSource *source, j_decompress_ptr info);

#endif
