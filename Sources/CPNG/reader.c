#include "CPNG.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cpng_reader {
    png_structp png;
    png_infop info;
    uint32_t width, height;
    size_t row_bytes;
    // Interlaced: the whole image. Otherwise: the rows completed by one feed, starting with `batch_start`.
    uint8_t *rows;
    uint32_t batch_rows, batch_start;
    bool is_interlaced, keeps_16_bits;
    uint32_t final_rows, complete_passes;
    bool has_ended, is_out_of_memory;
    unsigned deviations;
    char message[96];
};

static void on_error(png_structp png, png_const_charp message) {
    cpng_reader *reader = png_get_error_ptr(png);
    snprintf(reader->message, sizeof reader->message, "%s", message[0] == 0 ? "unknown error" : message);
    png_longjmp(png, 1);
}

// libpng says only by its messages what follows the last pixel.
static void on_warning(png_structp png, png_const_charp message) {
    static const struct {
        const char *message;
        unsigned deviation;
    } known[] = {
        {"Truncated compressed data in IDAT", CPNG_WRONG_CHECKSUM},
        {"Extra compressed data in IDAT", CPNG_EXTRA_PIXELS},
        {"Extra compression data in IDAT", CPNG_EXTRA_BYTES},
    };
    cpng_reader *reader = png_get_error_ptr(png);
    for (size_t index = 0; index < sizeof known / sizeof *known; index++)
        if (strcmp(message, known[index].message) == 0) reader->deviations |= known[index].deviation;
}

static void on_info(png_structp png, png_infop info) {
    cpng_reader *reader = png_get_progressive_ptr(png);
    if (png_get_image_width(png, info) != reader->width || png_get_image_height(png, info) != reader->height)
        png_error(png, "the size has changed");
    png_set_expand(png);
    if (reader->keeps_16_bits) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        png_set_swap(png);
#endif
    } else {
        png_set_strip_16(png);
    }
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, reader->keeps_16_bits ? 0xFFFF : 0xFF, PNG_FILLER_AFTER);
    reader->is_interlaced = png_set_interlace_handling(png) > 1;
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != reader->row_bytes) png_error(png, "rows of an unexpected length");
    if (reader->is_interlaced) {
        reader->rows = calloc(reader->height, reader->row_bytes);
    } else {
        reader->rows = calloc(reader->batch_rows, reader->row_bytes);
    }
    if (reader->rows == NULL) {
        reader->is_out_of_memory = true;
        png_error(png, "out of memory");
    }
}

static void on_row(png_structp png, png_bytep new_row, png_uint_32 row, int pass) {
    cpng_reader *reader = png_get_progressive_ptr(png);
    if (row >= reader->height) png_error(png, "too many rows");
    if (reader->is_interlaced) {
        reader->complete_passes = (uint32_t)pass;
        if (new_row != NULL) png_progressive_combine_row(png, reader->rows + row * reader->row_bytes, new_row);
        if (pass < 6) return;
    } else {
        if (row - reader->batch_start >= reader->batch_rows) png_error(png, "more rows than one piece can hold");
        png_progressive_combine_row(png, reader->rows + (row - reader->batch_start) * reader->row_bytes, new_row);
    }
    reader->final_rows = row + 1;
}

static void on_end(png_structp png, png_infop info) {
    (void)info;
    cpng_reader *reader = png_get_progressive_ptr(png);
    if (reader->final_rows != reader->height) png_error(png, "the image data ends too early");
    reader->has_ended = true;
}

cpng_reader *cpng_reader_create(uint32_t width, uint32_t height, uint32_t batch_rows) {
    cpng_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->width = width;
    reader->height = height;
    reader->row_bytes = (size_t)width * 4;
    reader->batch_rows = batch_rows;
    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, on_error, on_warning);
    reader->info = reader->png == NULL ? NULL : png_create_info_struct(reader->png);
    if (reader->info == NULL) {
        cpng_reader_destroy(reader);
        return NULL;
    }
#ifdef PNG_MAXIMUM_INFLATE_WINDOW
    // As in browsers: some encoders declare a window that is too small.
    png_set_option(reader->png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
#endif
    png_set_user_limits(reader->png, width, height);
    png_set_chunk_cache_max(reader->png, 16);
    png_set_chunk_malloc_max(reader->png, 64 << 10);
    png_set_progressive_read_fn(reader->png, reader, on_info, on_row, on_end);
    return reader;
}

void cpng_reader_destroy(cpng_reader *reader) {
    if (reader == NULL) return;
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
    free(reader->rows);
    free(reader);
}

void cpng_reader_keep_16_bits(cpng_reader *reader) {
    reader->keeps_16_bits = true;
    reader->row_bytes = (size_t)reader->width * 8;
}

bool cpng_reader_feed(cpng_reader *reader, const uint8_t *bytes, size_t count) {
    if (reader->has_ended) return true;
    if (reader->message[0] != 0) return false;
    if (setjmp(png_jmpbuf(reader->png))) return false;
    reader->batch_start = reader->final_rows;
    // libpng only reads from the buffer, though its signature does not say so.
    png_process_data(reader->png, reader->info, (png_bytep)bytes, count);
    return true;
}

const char *cpng_reader_message(const cpng_reader *reader) { return reader->message; }

uint32_t cpng_reader_final_rows(const cpng_reader *reader) { return reader->final_rows; }

const uint8_t *cpng_reader_row(const cpng_reader *reader, uint32_t row) {
    uint32_t first = reader->is_interlaced ? 0 : reader->batch_start;
    return reader->rows + (row - first) * reader->row_bytes;
}

bool cpng_reader_is_out_of_memory(const cpng_reader *reader) {
    return reader->is_out_of_memory;
}

uint32_t cpng_reader_complete_passes(const cpng_reader *reader) { return reader->complete_passes; }

const uint8_t *cpng_reader_preview_row(const cpng_reader *reader, uint32_t row) {
    if (!reader->is_interlaced || reader->rows == NULL || row >= reader->height) return NULL;
    return reader->rows + row * reader->row_bytes;
}

unsigned cpng_reader_deviations(const cpng_reader *reader) { return reader->deviations; }
