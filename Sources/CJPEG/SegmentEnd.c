#include "SegmentEnd.h"

#include "ByteSource.h"

#if defined(LIBJPEG_TURBO_VERSION) && __has_include(<jpegint.h>)

#include <jpegint.h>

/// Returns the maximum number of zeros that an encoder can have dropped. Where the image is flat, it predicts each
/// decision: adapting the predictions takes up to 21 bytes, and then one bit 32,768 decisions, about two to a block. A
/// refinement of DC coefficients takes a bit a block, without a prediction.
static size_t most_zeros(const struct jpeg_decompress_struct *info) {
    size_t blocks = (size_t)info->MCUs_per_row * info->MCU_rows_in_scan * (size_t)info->blocks_in_MCU;
    return 32 + blocks / (info->progressive_mode && info->Ss == 0 && info->Ah > 0 ? 8 : 65536);
}

static SegmentEnd *segment_end(j_decompress_ptr info) {
    return &((ByteSource *)info->src)->segment_end;
}

void segment_end_hide(j_decompress_ptr info) {
    SegmentEnd *end = segment_end(info);
    struct jpeg_source_mgr *source = info->src;
    if (end->read_restart_marker == NULL || info->unread_marker != 0) return;
    const JOCTET *bytes = source->next_input_byte;
    size_t count = source->bytes_in_buffer, start = 0;
    for (size_t index = 0; index + 1 < count; index++) {
        if (bytes[index] != 0xFF) {
            start = index + 1;
        } else if (bytes[index + 1] == 0) {
            start = index + 2;
        } else if (bytes[index + 1] != 0xFF) {
            end->marker = bytes + start;
            end->hidden_count = count - start;
            // The first block of a sequential segment ends with an end of block, which is not predicted.
            end->zero_count = start == 0 && !info->progressive_mode ? 0 : most_zeros(info);
            end->is_past = 0;
            source->bytes_in_buffer = start;
            return;
        }
    }
}

void segment_end_reveal(j_decompress_ptr info) {
    SegmentEnd *end = segment_end(info);
    struct jpeg_source_mgr *source = info->src;
    if (end->marker == NULL) return;
    if (end->is_past) {
        source->next_input_byte = end->marker;
        source->bytes_in_buffer = 0;
    }
    source->bytes_in_buffer += end->hidden_count;
    end->marker = NULL;
}

/// Returns the code of the marker that comes next, maybe after fill bytes.
static int marker_code(const struct jpeg_source_mgr *source) {
    const JOCTET *byte = source->next_input_byte;
    while (*byte == 0xFF) byte++;
    return *byte;
}

/// libjpeg calls it when it has read all bytes that it has been given.
static boolean read_zeros(j_decompress_ptr info) {
    static const JOCTET zeros[64];
    SegmentEnd *end = segment_end(info);
    if (end->marker == NULL) return FALSE;
    end->is_past = 1;
    size_t count = end->zero_count < sizeof zeros ? end->zero_count : sizeof zeros;
    end->zero_count -= count;
    info->src->next_input_byte = zeros;
    info->src->bytes_in_buffer = count;
    if (count > 0) return TRUE;
    segment_end_reveal(info);
    info->unread_marker = marker_code(info->src);
    WARNMS(info, JWRN_HIT_MARKER);
    info->unread_marker = 0;
    return TRUE;
}

static boolean read_restart_marker(j_decompress_ptr info) {
    segment_end_reveal(info);
    if (!segment_end(info)->read_restart_marker(info)) return FALSE;
    segment_end_hide(info);
    return TRUE;
}

void segment_end_install(j_decompress_ptr info) {
    if (!info->arith_code) return;
    segment_end(info)->read_restart_marker = info->marker->read_restart_marker;
    info->marker->read_restart_marker = read_restart_marker;
    info->src->fill_input_buffer = read_zeros;
    segment_end_hide(info);
}

#else

void segment_end_install(j_decompress_ptr info) { (void)info; }
void segment_end_hide(j_decompress_ptr info) { (void)info; }
void segment_end_reveal(j_decompress_ptr info) { (void)info; }

#endif
