#include "CPNG.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PIECE = 64 * 1024 };

// Makes room for the next piece within the limit; false if out of memory or room.
static bool make_room(cpng_file *file, size_t limit) {
    if (file->count < file->capacity) return true;
    if (file->capacity >= limit) return false;
    size_t capacity = file->capacity * 2 + PIECE;
    if (capacity > limit) capacity = limit;
    uint8_t *grown = realloc(file->bytes, capacity);
    if (grown == NULL) return false;
    file->bytes = grown;
    file->capacity = capacity;
    return true;
}

bool cpng_inflate(cpng_file *file, const uint8_t *bytes, size_t count, size_t limit) {
    memset(file, 0, sizeof *file);
    z_stream stream = {0};
    if (count > UINT32_MAX || inflateInit(&stream) != Z_OK) return false;
    stream.next_in = (Bytef *)bytes;
    stream.avail_in = (uInt)count;
    int status = Z_OK;
    while (status == Z_OK && make_room(file, limit)) {
        size_t room = file->capacity - file->count;
        stream.next_out = file->bytes + file->count;
        stream.avail_out = room > PIECE ? PIECE : (uInt)room;
        uInt offered = stream.avail_out;
        status = inflate(&stream, Z_NO_FLUSH);
        file->count += offered - stream.avail_out;
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END;
}

void cpng_file_free(cpng_file *file) {
    free(file->bytes);
    file->bytes = NULL;
}
