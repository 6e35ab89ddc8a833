#include "ScaledPreview.h"

#include <stdint.h>
#include <string.h>

#include <jerror.h>

/// The size of markers, lengths, and fixed fields of the header below, without its channels.
enum { FIXED_HEADER_BYTES = 2 + 10 + 5 + 5, BYTES_PER_CHANNEL = 3, MAXIMUM_CHANNELS = 4 };

// MARK: Coefficients

static jvirt_barray_ptr request_noting(
    j_common_ptr info, int pool, boolean pre_zero, JDIMENSION width, JDIMENSION height, JDIMENSION max_access
) {
    ScaledPreview *preview = info->client_data;
    jvirt_barray_ptr array = preview->request(info, pool, pre_zero, width, height, max_access);
    if (preview->channel_count == MAX_COMPONENTS) ERREXIT(info, JERR_COMPONENT_COUNT);
    preview->coefficients[preview->channel_count++] = array;
    return array;
}

static jvirt_barray_ptr request_borrowed(
    j_common_ptr info, int pool, boolean pre_zero, JDIMENSION width, JDIMENSION height, JDIMENSION max_access
) {
    (void)pool, (void)pre_zero, (void)width, (void)height, (void)max_access;
    ScaledPreview *preview = info->client_data;
    if (preview->channel_count == MAX_COMPONENTS) ERREXIT(info, JERR_COMPONENT_COUNT);
    return preview->coefficients[preview->channel_count++];
}

static JBLOCKARRAY access_borrowed(
    j_common_ptr info, jvirt_barray_ptr array, JDIMENSION first_row, JDIMENSION row_count, boolean writable
) {
    if (writable) ERREXIT(info, JERR_BAD_VIRTUAL_ACCESS);
    j_common_ptr image = (j_common_ptr)((ScaledPreview *)info->client_data)->image;
    return image->mem->access_virt_barray(image, array, first_row, row_count, FALSE);
}

void scaled_preview_install(ScaledPreview *preview, j_decompress_ptr image) {
    preview->image = image;
    preview->request = image->mem->request_virt_barray;
    image->client_data = preview;
    image->mem->request_virt_barray = request_noting;
}

// MARK: Source

static void do_nothing(j_decompress_ptr info) {
    (void)info;
}

static boolean fill_nothing(j_decompress_ptr info) {
    (void)info;
    return FALSE;
}

static void skip_nothing(j_decompress_ptr info, long count) {
    (void)info, (void)count;
}

static uint8_t *put_word(uint8_t *end, unsigned word) {
    *end++ = (uint8_t)(word >> 8);
    *end++ = (uint8_t)word;
    return end;
}

/// Writes a file with the size and channels of `image` that ends where its first scan would begin.
static size_t write_header(j_decompress_ptr image, uint8_t *header) {
    unsigned channels = (unsigned)image->num_components;
    uint8_t *end = put_word(header, 0xFFD8);
    end = put_word(end, 0xFFC1);
    end = put_word(end, 8 + BYTES_PER_CHANNEL * channels);
    *end++ = BITS_IN_JSAMPLE;
    end = put_word(end, image->image_height);
    end = put_word(end, image->image_width);
    *end++ = (uint8_t)channels;
    for (unsigned channel = 0; channel < channels; channel++) {
        const jpeg_component_info *component = image->comp_info + channel;
        *end++ = (uint8_t)(channel + 1);
        *end++ = (uint8_t)(component->h_samp_factor << 4 | component->v_samp_factor);
        *end++ = 0;
    }
    // A scan of the first channel: it is never read.
    end = put_word(end, 0xFFDA);
    end = put_word(end, 8);
    *end++ = 1;
    end = put_word(end, 0x0100);
    end = put_word(end, DCTSIZE2 - 1);
    *end++ = 0;
    return (size_t)(end - header);
}

// MARK: Rendering

void scaled_preview_begin(ScaledPreview *preview, unsigned eighths) {
    // libjpeg requires tables for the scan that is never read.
    static JQUANT_TBL steps;
    static JHUFF_TBL codes = {.bits = {0, 1}};
    j_decompress_ptr image = preview->image;
    struct jpeg_decompress_struct *info = &preview->info;
    uint8_t header[FIXED_HEADER_BYTES + BYTES_PER_CHANNEL * MAXIMUM_CHANNELS];
    if (image->num_components > MAXIMUM_CHANNELS) ERREXIT(image, JERR_COMPONENT_COUNT);

    scaled_preview_end(preview);
    memset(info, 0, sizeof *info);
    info->err = image->err;
    jpeg_create_decompress(info);
    preview->is_running = 1;
    info->client_data = preview;
    info->mem->request_virt_barray = request_borrowed;
    info->mem->access_virt_barray = access_borrowed;
    preview->source = (struct jpeg_source_mgr){
        .next_input_byte = header,
        .bytes_in_buffer = write_header(image, header),
        .init_source = do_nothing,
        .fill_input_buffer = fill_nothing,
        .skip_input_data = skip_nothing,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = do_nothing,
    };
    info->src = &preview->source;
    if (jpeg_read_header(info, TRUE) != JPEG_HEADER_OK) ERREXIT(image, JERR_INPUT_EMPTY);

    info->jpeg_color_space = image->jpeg_color_space;
    info->out_color_space = image->out_color_space;
    info->scale_num = eighths;
    info->scale_denom = DCTSIZE;
    info->buffered_image = TRUE;
    info->do_block_smoothing = FALSE;
    info->quant_tbl_ptrs[0] = &steps;
    info->dc_huff_tbl_ptrs[0] = info->ac_huff_tbl_ptrs[0] = &codes;
    // The arrays are requested again, in the same order.
    int channel_count = preview->channel_count;
    preview->channel_count = 0;
    jpeg_start_decompress(info);
    if (preview->channel_count != channel_count) ERREXIT(image, JERR_COMPONENT_COUNT);

    // The tables and coefficients of a channel are missing until a scan of it has been received.
    for (int channel = 0; channel < info->num_components; channel++)
        info->comp_info[channel].quant_table = image->comp_info[channel].quant_table;
    // Keeps libjpeg from looking for more input.
    info->input_scan_number = 2;
    if (!jpeg_start_output(info, 1)) ERREXIT(image, JERR_INPUT_EMPTY);
}

void scaled_preview_end(ScaledPreview *preview) {
    if (preview->is_running) jpeg_destroy_decompress(&preview->info);
    preview->is_running = 0;
}
