#include "FileTail.h"

enum {
    MARKER_TEM = 0x01, MARKER_DHT = 0xC4, MARKER_DAC = 0xCC, MARKER_RST0 = 0xD0, MARKER_RST7 = 0xD7, MARKER_EOI = 0xD9,
    MARKER_DQT = 0xDB, MARKER_DNL = 0xDC, MARKER_DRI = 0xDD, MARKER_APP0 = 0xE0, MARKER_APP15 = 0xEF, MARKER_COM = 0xFE,
};

static int is_restart(int marker) {
    return marker >= MARKER_RST0 && marker <= MARKER_RST7;
}

/// Returns whether a marker begins a segment with a length that can follow a scan.
static int begins_segment(int marker) {
    switch (marker) {
    case MARKER_DHT: case MARKER_DAC: case MARKER_DQT: case MARKER_DNL: case MARKER_DRI: case MARKER_COM: return 1;
    default: return marker >= MARKER_APP0 && marker <= MARKER_APP15;
    }
}

static void skip(j_decompress_ptr info, size_t count) {
    if (count > 0) info->src->skip_input_data(info, (long)count);
}

/// Reads the next marker, which becomes libjpeg's unread marker. Returns 0 if it has not been received.
static int read_marker(FileTail *tail, j_decompress_ptr info) {
    struct jpeg_source_mgr *source = info->src;
    while (info->unread_marker == 0) {
        const JOCTET *bytes = source->next_input_byte;
        size_t count = source->bytes_in_buffer;
        if (count == 0 || (count == 1 && bytes[0] == 0xFF)) return 0;
        if (bytes[0] == 0xFF && bytes[1] != 0) {
            // FF may be repeated.
            if (bytes[1] != 0xFF) info->unread_marker = bytes[1];
            skip(info, bytes[1] != 0xFF ? 2 : 1);
        } else {
            tail->extra_bytes++;
            skip(info, 1);
        }
    }
    return 1;
}

/// Skips the rest of a segment after its marker. Returns 0 if its length has not been received.
static int skip_segment(j_decompress_ptr info) {
    const JOCTET *bytes = info->src->next_input_byte;
    if (info->src->bytes_in_buffer < 2) return 0;
    size_t length = (size_t)bytes[0] << 8 | bytes[1];
    skip(info, length > 2 ? length : 2);
    return 1;
}

CJPEGStatus file_tail_read(FileTail *tail, j_decompress_ptr info) {
    ErrorFence *fence = (ErrorFence *)info->err;
    for (;;) {
        if (!read_marker(tail, info)) return CJPEG_NEEDS_BYTES;
        int marker = info->unread_marker;
        if (tail->extra_bytes > 0)
            error_fence_note_extra_bytes(
                (j_common_ptr)info, tail->extra_bytes, marker, fence->are_extra_bytes_doubtful);
        tail->extra_bytes = 0;
        if (marker == MARKER_EOI) return CJPEG_ENDED;
        if (begins_segment(marker)) {
            if (!skip_segment(info)) return CJPEG_NEEDS_BYTES;
        } else if (!is_restart(marker) && marker != MARKER_TEM) {
            return CJPEG_TRUNCATED;
        }
        // A restart marker is followed by blocks.
        fence->are_extra_bytes_doubtful = is_restart(marker);
        info->unread_marker = 0;
    }
}
