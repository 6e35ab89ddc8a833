#include "jpeg_loop.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

typedef struct Failure {
    struct jpeg_error_mgr manager;
    jmp_buf landing;
} Failure;

static void leave(j_common_ptr info) {
    longjmp(((Failure *)info->err)->landing, 1);
}

uint32_t jpeg_loop_decode(const uint8_t *bytes, size_t count, uint32_t eighths) {
    struct jpeg_decompress_struct info;
    Failure failure;
    JSAMPLE *volatile row = NULL;
    info.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = leave;
    if (setjmp(failure.landing)) {
        jpeg_destroy_decompress(&info);
        free(row);
        return 0;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, bytes, count);
    jpeg_read_header(&info, TRUE);
    info.scale_num = eighths;
    info.scale_denom = 8;
    info.out_color_space = JCS_EXT_RGBA;
    jpeg_start_decompress(&info);
    row = malloc((size_t)info.output_width * 4);
    if (row == NULL) leave((j_common_ptr)&info);
    while (info.output_scanline < info.output_height) {
        JSAMPROW rows[] = {row};
        jpeg_read_scanlines(&info, rows, 1);
    }
    uint32_t height = info.output_height;
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    free(row);
    return height;
}
