#include "ByteSource.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST_BUFFER = 64 * 1024 };

/// Unconsumed bytes are at most one marker segment (64 KiB) and one piece, except for arithmetic coding, whose decoder
/// cannot wait for bytes and therefore gets the whole file at once, and for FF bytes without end.
enum { MOST_UNCONSUMED_BYTES = 96 * 1024 };

/// One less than libjpeg-turbo's faster MCU decoder requires for each block.
enum { MOST_BYTES_PER_BLOCK = DCTSIZE2 * 8 - 1 };

// MARK: For libjpeg

static void do_nothing(j_decompress_ptr info) {
    (void)info;
}

static boolean fill_input_buffer(j_decompress_ptr info) {
    (void)info;
    return FALSE;
}

static void skip_input_data(j_decompress_ptr info, long count) {
    ByteSource *source = (ByteSource *)info->src;
    if (count <= 0) return;
    size_t here = source->manager.bytes_in_buffer;
    if (here > (size_t)count) here = (size_t)count;
    source->manager.next_input_byte += here;
    source->manager.bytes_in_buffer -= here;
    source->bytes_to_skip += (size_t)count - here;
}

void byte_source_install(ByteSource *source, j_decompress_ptr info) {
    source->manager.init_source = do_nothing;
    source->manager.fill_input_buffer = fill_input_buffer;
    source->manager.skip_input_data = skip_input_data;
    source->manager.resync_to_restart = jpeg_resync_to_restart;
    source->manager.term_source = do_nothing;
    info->src = &source->manager;
}

void byte_source_free(ByteSource *source) {
    free(source->buffer);
}

// MARK: Appending

/// Makes room for `count` bytes after the unconsumed ones, which move to the front of the buffer.
static CJPEGStatus make_room(ByteSource *source, ErrorFence *fence, size_t count, int is_arithmetic) {
    size_t kept = source->manager.bytes_in_buffer;
    if (kept > MOST_UNCONSUMED_BYTES && !is_arithmetic)
        return error_fence_fail(fence, CJPEG_CORRUPT, "too many fill bytes");
    size_t needed = kept + count;
    if (kept > 0) memmove(source->buffer, source->manager.next_input_byte, kept);
    if (needed > source->capacity) {
        if (needed > CJPEG_MOST_HELD_BYTES)
            return error_fence_fail(fence, CJPEG_UNSUPPORTED, "arithmetic coding in a file over 64 MiB");
        size_t capacity = source->capacity > 0 ? source->capacity : SMALLEST_BUFFER;
        while (capacity < needed) capacity *= 2;
        uint8_t *buffer = realloc(source->buffer, capacity);
        if (buffer == NULL) return error_fence_fail(fence, CJPEG_OUT_OF_MEMORY, "out of memory");
        source->buffer = buffer;
        source->capacity = capacity;
    }
    source->manager.next_input_byte = source->buffer;
    return CJPEG_OK;
}

CJPEGStatus byte_source_append(ByteSource *source, ErrorFence *fence, const uint8_t *bytes, size_t count,
                                int is_arithmetic) {
    size_t skipped = count < source->bytes_to_skip ? count : source->bytes_to_skip;
    source->bytes_to_skip -= skipped;
    count -= skipped;
    if (count == 0) return CJPEG_OK;

    // next_input_byte points into the buffer from the first piece on.
    size_t used = source->buffer == NULL
        ? 0 : (size_t)(source->manager.next_input_byte - source->buffer) + source->manager.bytes_in_buffer;
    if (count > source->capacity - used) {
        CJPEGStatus status = make_room(source, fence, count, is_arithmetic);
        if (status != CJPEG_OK) return status;
        used = source->manager.bytes_in_buffer;
    }
    memcpy(source->buffer + used, bytes + skipped, count);
    source->manager.bytes_in_buffer += count;
    return CJPEG_OK;
}

int byte_source_add_end(ByteSource *source, ErrorFence *fence) {
    static const uint8_t end_marker[] = {0xFF, 0xD9};
    if (source->has_added_end) return 0;
    source->has_added_end = 1;
    return byte_source_append(source, fence, end_marker, sizeof end_marker, 0) == CJPEG_OK;
}

void byte_source_drop(ByteSource *source) {
    source->manager.bytes_in_buffer = 0;
    source->bytes_to_skip = 0;
}

// MARK: Strict reading

/// Like jpeg_consume_input, but uses at most `limit` of the bytes.
static int consume(ByteSource *source, j_decompress_ptr info, size_t limit) {
    struct jpeg_source_mgr *manager = &source->manager;
    size_t hidden = manager->bytes_in_buffer > limit ? manager->bytes_in_buffer - limit : 0;
    manager->bytes_in_buffer -= hidden;
    int progress = jpeg_consume_input(info);
    manager->bytes_in_buffer += hidden;
    return progress;
}

/// Removes FF before FF up to the next marker, the only way for an MCU to be longer than libjpeg expects.
static void drop_fill_bytes(ByteSource *source) {
    uint8_t *start = source->buffer + (source->manager.next_input_byte - source->buffer);
    size_t count = source->manager.bytes_in_buffer;
    size_t end = 1;
    while (end < count && !(start[end - 1] == 0xFF && start[end] != 0 && start[end] != 0xFF)) end++;
    size_t kept = end;
    for (size_t index = end; index-- > 0;) {
        if (start[index] == 0xFF && kept < end && start[kept] == 0xFF) continue;
        start[--kept] = start[index];
    }
    source->manager.next_input_byte += kept;
    source->manager.bytes_in_buffer -= kept;
}

int byte_source_consume_strictly(ByteSource *source, j_decompress_ptr info) {
    size_t limit = (size_t)info->blocks_in_MCU * MOST_BYTES_PER_BLOCK;
    // No other decoder has a faster function, and that of arithmetic coding cannot wait for bytes. Between scans,
    // segments can be longer and are skipped.
    if (info->progressive_mode || info->arith_code || source->is_between_scans) limit = SIZE_MAX;
    for (;;) {
        size_t count = source->manager.bytes_in_buffer;
        int progress = consume(source, info, limit);
        if (progress != JPEG_SUSPENDED || count <= limit) return progress;
        if (source->manager.bytes_in_buffer < count) continue;
        drop_fill_bytes(source);
        if (source->manager.bytes_in_buffer == count) limit = SIZE_MAX;
    }
}
