#include "CPNG.h"

#include <stdlib.h>
#include <zlib.h>

struct cpng_inflater {
    z_stream stream;
    bool has_ended;
};

cpng_inflater *cpng_inflater_create(void) {
    cpng_inflater *inflater = calloc(1, sizeof *inflater);
    if (inflater == NULL) return NULL;
    if (inflateInit(&inflater->stream) == Z_OK) return inflater;
    free(inflater);
    return NULL;
}

void cpng_inflater_destroy(cpng_inflater *inflater) {
    if (inflater == NULL) return;
    inflateEnd(&inflater->stream);
    free(inflater);
}

static uInt at_most(size_t count) { return count > UINT32_MAX ? UINT32_MAX : (uInt)count; }

bool cpng_inflater_run(
    cpng_inflater *inflater, const uint8_t *bytes, size_t *count, uint8_t *output, size_t *capacity
) {
    z_stream *stream = &inflater->stream;
    uInt offered = at_most(*count), room = at_most(*capacity);
    *count = *capacity = 0;
    if (inflater->has_ended || (offered == 0 && room == 0)) return true;
    stream->next_in = (Bytef *)bytes;
    stream->avail_in = offered;
    stream->next_out = output;
    stream->avail_out = room;
    int status = inflate(stream, Z_NO_FLUSH);
    *count = offered - stream->avail_in;
    *capacity = room - stream->avail_out;
    inflater->has_ended = status == Z_STREAM_END;
    // Z_BUF_ERROR: more bytes are needed.
    return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
}

bool cpng_inflater_has_ended(const cpng_inflater *inflater) { return inflater->has_ended; }
