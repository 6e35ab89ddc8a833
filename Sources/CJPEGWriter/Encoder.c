#include "CJPEGWriter.h"
#include "ErrorFence.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST_FILE = 16 * 1024 };

struct CJPEGEncoder {
    struct jpeg_compress_struct info;
    struct jpeg_destination_mgr destination;
    ErrorFence fence;
    CJPEGEncoderSetup setup;
    /// The file so far, `capacity - destination.free_in_buffer` bytes of it.
    uint8_t *bytes;
    size_t capacity;
};

// MARK: Destination

static void grow(CJPEGEncoder *encoder) {
    size_t used = encoder->capacity;
    size_t capacity = used > 0 ? used * 2 : SMALLEST_FILE;
    uint8_t *bytes = realloc(encoder->bytes, capacity);
    if (bytes == NULL) ERREXIT1(&encoder->info, JERR_OUT_OF_MEMORY, 0);
    encoder->bytes = bytes;
    encoder->capacity = capacity;
    encoder->destination.next_output_byte = bytes + used;
    encoder->destination.free_in_buffer = capacity - used;
}

static void init_destination(j_compress_ptr info) {
    grow(info->client_data);
}

static boolean empty_output_buffer(j_compress_ptr info) {
    // Called when the buffer is full, regardless of free_in_buffer.
    grow(info->client_data);
    return TRUE;
}

static void term_destination(j_compress_ptr info) {
    (void)info;
}

// MARK: Life

CJPEGEncoder *cjpeg_encoder_create(CJPEGEncoderSetup setup) {
    CJPEGEncoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL) return NULL;
    encoder->setup = setup;
    encoder->info.err = error_fence_install(&encoder->fence);
    if (setjmp(encoder->fence.landing)) {
        cjpeg_encoder_destroy(encoder);
        return NULL;
    }
    jpeg_create_compress(&encoder->info);
    encoder->info.client_data = encoder;
    encoder->destination.init_destination = init_destination;
    encoder->destination.empty_output_buffer = empty_output_buffer;
    encoder->destination.term_destination = term_destination;
    encoder->info.dest = &encoder->destination;
    return encoder;
}

void cjpeg_encoder_destroy(CJPEGEncoder *encoder) {
    if (encoder == NULL) return;
    jpeg_destroy_compress(&encoder->info);
    free(encoder->bytes);
    free(encoder);
}

const char *cjpeg_encoder_message(const CJPEGEncoder *encoder) {
    return encoder->fence.message;
}

// MARK: Encoding

CJPEGStatus cjpeg_encoder_begin(CJPEGEncoder *encoder) {
    struct jpeg_compress_struct *info = &encoder->info;
    if (encoder->fence.failure != CJPEG_OK) return encoder->fence.failure;
    if (setjmp(encoder->fence.landing)) return encoder->fence.failure;
    info->image_width = encoder->setup.width;
    info->image_height = encoder->setup.height;
    info->input_components = 4;
    info->in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(info);
    if (encoder->setup.grayscale) jpeg_set_colorspace(info, JCS_GRAYSCALE);
    jpeg_set_quality(info, (int)encoder->setup.quality, TRUE);
    if (!encoder->setup.grayscale) {
        info->comp_info[0].h_samp_factor = (int)encoder->setup.horizontal_factor;
        info->comp_info[0].v_samp_factor = (int)encoder->setup.vertical_factor;
    }
    if (encoder->setup.progressive) jpeg_simple_progression(info);
    jpeg_start_compress(info, TRUE);
    return CJPEG_OK;
}

CJPEGStatus cjpeg_encoder_write_segment(CJPEGEncoder *encoder, int marker, const uint8_t *bytes, uint32_t count) {
    if (encoder->fence.failure != CJPEG_OK) return encoder->fence.failure;
    if (setjmp(encoder->fence.landing)) return encoder->fence.failure;
    jpeg_write_marker(&encoder->info, marker, bytes, count);
    return CJPEG_OK;
}

CJPEGStatus cjpeg_encoder_write_row(CJPEGEncoder *encoder, const uint8_t *row) {
    if (encoder->fence.failure != CJPEG_OK) return encoder->fence.failure;
    if (setjmp(encoder->fence.landing)) return encoder->fence.failure;
    JSAMPROW rows[1] = {(JSAMPROW)row};
    jpeg_write_scanlines(&encoder->info, rows, 1);
    return CJPEG_OK;
}

CJPEGStatus cjpeg_encoder_finish(CJPEGEncoder *encoder, const uint8_t **bytes, size_t *count) {
    *bytes = NULL;
    *count = 0;
    if (encoder->fence.failure != CJPEG_OK) return encoder->fence.failure;
    if (setjmp(encoder->fence.landing)) return encoder->fence.failure;
    jpeg_finish_compress(&encoder->info);
    *bytes = encoder->bytes;
    *count = encoder->capacity - encoder->destination.free_in_buffer;
    return CJPEG_OK;
}
