#include "CPNG.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// An encoder that declares too small a window does so from the beginning.
enum { CHECKED_OUTPUT = 128 * 1024 };

struct cpng_window {
    z_stream stream;
    size_t output_left;
    bool is_too_small;
};

cpng_window *cpng_window_create(void) {
    cpng_window *window = calloc(1, sizeof *window);
    if (window == NULL) return NULL;
    window->output_left = CHECKED_OUTPUT;
    // 0: the window that the stream declares.
    if (inflateInit2(&window->stream, 0) == Z_OK) return window;
    free(window);
    return NULL;
}

void cpng_window_destroy(cpng_window *window) {
    if (window == NULL) return;
    inflateEnd(&window->stream);
    free(window);
}

bool cpng_window_run(cpng_window *window, const uint8_t *bytes, size_t count) {
    z_stream *stream = &window->stream;
    stream->next_in = (Bytef *)bytes;
    stream->avail_in = count > UINT32_MAX ? UINT32_MAX : (uInt)count;
    // Byte by byte, because zlib does not notice references into the output of the same call.
    while (window->output_left > 0 && !window->is_too_small) {
        Bytef byte;
        stream->next_out = &byte;
        stream->avail_out = 1;
        int status = inflate(stream, Z_NO_FLUSH);
        window->is_too_small = status == Z_DATA_ERROR && stream->msg != NULL && strstr(stream->msg, "distance") != NULL
            && strstr(stream->msg, "too far") != NULL;
        if (status != Z_OK) {
            // Z_BUF_ERROR: more bytes are needed. Otherwise there is nothing to find anymore.
            if (status != Z_BUF_ERROR) window->output_left = 0;
            break;
        }
        if (stream->avail_out == 0) {
            window->output_left--;
        } else if (stream->avail_in == 0) {
            break;
        }
    }
    return window->is_too_small;
}
