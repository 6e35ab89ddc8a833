#include "CPNGWriter.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_error(png_structp png, png_const_charp message) {
    cpng_file *file = png_get_error_ptr(png);
    snprintf(file->message, sizeof file->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void on_write(png_structp png, png_bytep bytes, size_t count) {
    cpng_file *file = png_get_io_ptr(png);
    if (count > file->capacity - file->count) {
        size_t capacity = file->capacity * 2 + count + 4096;
        uint8_t *grown = realloc(file->bytes, capacity);
        if (grown == NULL) png_error(png, "out of memory");
        file->bytes = grown;
        file->capacity = capacity;
    }
    memcpy(file->bytes + file->count, bytes, count);
    file->count += count;
}

static void on_flush(png_structp png) { (void)png; }

// A separate function, so that no local variable changes between setjmp and longjmp.
static bool write_image(png_structp png, png_infop info, const cpng_image *image) {
    png_color colors[256];
    png_byte alphas[256];
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(
        png, info, image->width, image->height, image->bit_depth, image->color_type, PNG_INTERLACE_NONE,
        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, image->compression_level);
    if (image->color_type == PNG_COLOR_TYPE_PALETTE) {
        for (int index = 0; index < image->palette_count && index < 256; index++) {
            const uint8_t *color = image->palette + index * 4;
            colors[index] = (png_color){.red = color[0], .green = color[1], .blue = color[2]};
            alphas[index] = color[3];
        }
        png_set_PLTE(png, info, colors, image->palette_count);
        if (image->transparent_count > 0) png_set_tRNS(png, info, alphas, image->transparent_count, NULL);
    }
    png_write_info(png, info);
    if (image->color_type == PNG_COLOR_TYPE_RGB) png_set_filler(png, 0, PNG_FILLER_AFTER);
    if (image->bit_depth < 8) png_set_packing(png);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (image->bit_depth == 16) png_set_swap(png);
#endif
    for (uint32_t row = 0; row < image->height; row++) png_write_row(png, image->rows + row * image->row_bytes);
    png_write_end(png, info);
    return true;
}

bool cpng_write(cpng_file *file, const cpng_image *image) {
    memset(file, 0, sizeof *file);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, file, on_error, on_warning);
    png_infop info = png == NULL ? NULL : png_create_info_struct(png);
    bool is_written = false;
    if (info == NULL) {
        snprintf(file->message, sizeof file->message, "out of memory");
    } else {
        png_set_write_fn(png, file, on_write, on_flush);
        is_written = write_image(png, info, image);
    }
    png_destroy_write_struct(&png, &info);
    return is_written;
}
