// What follows the only scan of a file. Not visible to Swift.
#ifndef CJPEG_FILE_TAIL_H
#define CJPEG_FILE_TAIL_H

#include "ByteSource.h"

/// The state of reading the bytes after the scan, which cannot change a pixel.
typedef struct FileTail {
    /// The number of bytes since the last marker that belong to no segment.
    unsigned extra_bytes;
} FileTail;

/// Reads up to the end marker, in place of libjpeg, which fails where unknown bytes look like markers. Returns
/// CJPEG_ENDED; CJPEG_NEEDS_BYTES; or CJPEG_TRUNCATED if a marker that cannot follow a scan precedes the end marker.
CJPEGStatus file_tail_read(FileTail *tail, j_decompress_ptr info);

#endif
