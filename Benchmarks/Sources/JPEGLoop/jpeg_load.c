#include "jpeg_load.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>
#include <jpeglib.h>

typedef struct Load {
    CURL *curl;
    uint8_t *bytes;
    size_t capacity;
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf landing;
    /// The number of bytes still to be skipped.
    size_t skipped;
    bool has_header;
    bool has_started;
    bool has_all_scans;
} Load;

static void leave(j_common_ptr info) {
    longjmp(((Load *)info->client_data)->landing, 1);
}

static void do_nothing(j_decompress_ptr info) {
    (void)info;
}

static boolean suspend(j_decompress_ptr info) {
    (void)info;
    return FALSE;
}

static void skip(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    Load *load = info->client_data;
    size_t available = info->src->bytes_in_buffer;
    size_t now = (size_t)count < available ? (size_t)count : available;
    info->src->next_input_byte += now;
    info->src->bytes_in_buffer -= now;
    load->skipped += (size_t)count - now;
}

/// Reads as far as the received bytes go.
static void consume(Load *load) {
    struct jpeg_decompress_struct *info = &load->info;
    if (!load->has_header) {
        if (jpeg_read_header(info, TRUE) == JPEG_SUSPENDED) return;
        load->has_header = true;
        info->buffered_image = TRUE;
        info->out_color_space = JCS_EXT_RGBA;
    }
    if (!load->has_started) {
        if (!jpeg_start_decompress(info)) return;
        load->has_started = true;
    }
    int status;
    do { status = jpeg_consume_input(info); } while (status != JPEG_SUSPENDED && status != JPEG_REACHED_EOI);
    load->has_all_scans = status == JPEG_REACHED_EOI;
}

/// Returns the number of rows, or 0 if they cannot be decoded.
static uint32_t output(Load *load) {
    struct jpeg_decompress_struct *info = &load->info;
    size_t stride = (size_t)info->output_width * 4;
    uint8_t *pixels = malloc(stride * info->output_height);
    if (pixels == NULL) return 0;
    if (setjmp(load->landing)) {
        free(pixels);
        return 0;
    }
    jpeg_start_output(info, info->input_scan_number);
    while (info->output_scanline < info->output_height) {
        JSAMPROW rows[] = {pixels + info->output_scanline * stride};
        jpeg_read_scanlines(info, rows, 1);
    }
    free(pixels);
    return info->output_height;
}

/// Returns whether `consume` has succeeded: an error must not jump across libcurl's frames.
static bool try_to_consume(Load *load) {
    if (setjmp(load->landing)) return false;
    consume(load);
    return true;
}

static size_t receive(char *piece, size_t size, size_t count, void *context) {
    Load *load = context;
    size_t received = size * count;
    if (load->bytes == NULL) {
        curl_off_t length = -1;
        curl_easy_getinfo(load->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        if (length <= 0 || (load->bytes = malloc((size_t)length)) == NULL) return 0;
        load->capacity = (size_t)length;
        load->source.next_input_byte = load->bytes;
    }
    if (load->has_all_scans) return received;
    const uint8_t *end = load->source.next_input_byte + load->source.bytes_in_buffer;
    size_t offset = (size_t)(end - load->bytes);
    if (received > load->capacity - offset) return 0;
    memcpy(load->bytes + offset, piece, received);
    load->source.bytes_in_buffer += received;
    size_t skipped = load->skipped;
    load->skipped = 0;
    skip(&load->info, (long)skipped);
    return try_to_consume(load) ? received : 0;
}

uint32_t jpeg_load(const char *url) {
    Load load = {.curl = curl_easy_init()};
    if (load.curl == NULL) return 0;
    load.info.err = jpeg_std_error(&load.errors);
    load.errors.error_exit = leave;
    load.info.client_data = &load;
    volatile uint32_t height = 0;
    if (setjmp(load.landing) == 0) {
        jpeg_create_decompress(&load.info);
        load.source = (struct jpeg_source_mgr){
            .init_source = do_nothing,
            .fill_input_buffer = suspend,
            .skip_input_data = skip,
            .resync_to_restart = jpeg_resync_to_restart,
            .term_source = do_nothing,
        };
        load.info.src = &load.source;
        curl_easy_setopt(load.curl, CURLOPT_URL, url);
        curl_easy_setopt(load.curl, CURLOPT_PROXY, "");
        curl_easy_setopt(load.curl, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(load.curl, CURLOPT_BUFFERSIZE, 60L << 10);
        curl_easy_setopt(load.curl, CURLOPT_TIMEOUT, 60L);
        curl_easy_setopt(load.curl, CURLOPT_FAILONERROR, 1L);
        curl_easy_setopt(load.curl, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(load.curl, CURLOPT_WRITEDATA, &load);
        if (curl_easy_perform(load.curl) == CURLE_OK && load.has_all_scans) height = output(&load);
    }
    jpeg_destroy_decompress(&load.info);
    curl_easy_cleanup(load.curl);
    free(load.bytes);
    return height;
}
