#include "CPNGWriter.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

bool cpng_deflate(cpng_file *file, const uint8_t *bytes, size_t count) {
    memset(file, 0, sizeof *file);
    uLongf length = compressBound(count);
    file->bytes = malloc(length);
    if (file->bytes == NULL) return false;
    file->capacity = length;
    if (compress2(file->bytes, &length, bytes, count, Z_BEST_COMPRESSION) != Z_OK) return false;
    file->count = length;
    return true;
}
