#include "DCCoefficients.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <jerror.h>

/// The maximum number of rows of blocks in use at a time: the largest vertical sampling factor.
enum { WINDOW_HEIGHT = 4 };

/// Replaces libjpeg's virtual array, which only its memory manager accesses.
///
/// Blocks exist only inside a window, which holds the rows requested last. When it moves, their DC coefficients are
/// stored.
struct jvirt_barray_control {
    /// The channel: libjpeg requests arrays in the order of channels.
    int channel;
    JDIMENSION width;
    JDIMENSION height;
    /// The DC coefficient of each block.
    JCOEF *values;
    JBLOCKROW window[WINDOW_HEIGHT];
    JDIMENSION first_row;
    JDIMENSION row_count;
};

static jvirt_barray_ptr request(
    j_common_ptr info, int pool, boolean pre_zero, JDIMENSION width, JDIMENSION height, JDIMENSION max_access
) {
    (void)pre_zero;
    (void)max_access;
    jvirt_barray_ptr array = info->mem->alloc_small(info, pool, sizeof *array);
    memset(array, 0, sizeof *array);
    DCCoefficients *coefficients = info->client_data;
    array->channel = coefficients->channel_count++;
    array->width = width;
    array->height = height;
    size_t size = (size_t)width * height * sizeof(JCOEF);
    array->values = info->mem->alloc_large(info, pool, size);
    memset(array->values, 0, size);
    for (int row = 0; row < WINDOW_HEIGHT; row++)
        array->window[row] = info->mem->alloc_large(info, pool, width * sizeof(JBLOCK));
    return array;
}

static JCOEF *row_values(jvirt_barray_ptr array, JDIMENSION row) {
    return array->values + (size_t)row * array->width;
}

static void move_window(jvirt_barray_ptr array, JDIMENSION first_row, JDIMENSION row_count) {
    for (JDIMENSION row = 0; row < array->row_count; row++) {
        JCOEF *kept = row_values(array, array->first_row + row);
        for (JDIMENSION block = 0; block < array->width; block++) kept[block] = array->window[row][block][0];
    }
    for (JDIMENSION row = 0; row < row_count; row++) {
        const JCOEF *kept = row_values(array, first_row + row);
        memset(array->window[row], 0, array->width * sizeof(JBLOCK));
        for (JDIMENSION block = 0; block < array->width; block++) array->window[row][block][0] = kept[block];
    }
    array->first_row = first_row;
    array->row_count = row_count;
}

/// Returns the lowest frequency of a block (dequantized by `step`) whose neighbors' DC coefficients (dequantized by
/// `dc_step`) differ by `difference`: the halves of the block are then on a line through the neighbors, a quarter
/// of a block from its center. The factor is that of libjpeg's 2 by 2 transform.
static JCOEF slope(int difference, UINT16 dc_step, UINT16 step) {
    if (step == 0) return 0;
    int64_t value = (int64_t)difference * dc_step * 32 / (step * (int64_t)232);
    return (JCOEF)(value < -1023 ? -1023 : value > 1023 ? 1023 : value);
}

/// At 1/8, libjpeg makes more than one pixel of a block in channels that are sampled more coarsely than others. With
/// DC coefficients alone, these pixels would be equal.
static void interpolate(jvirt_barray_ptr array, const JQUANT_TBL *table) {
    for (JDIMENSION row = 0; row < array->row_count; row++) {
        JDIMENSION y = array->first_row + row;
        const JCOEF *here = row_values(array, y);
        const JCOEF *above = row_values(array, y > 0 ? y - 1 : y);
        const JCOEF *below = row_values(array, y + 1 < array->height ? y + 1 : y);
        for (JDIMENSION x = 0; x < array->width; x++) {
            JCOEF *block = array->window[row][x];
            int across = here[x > 0 ? x - 1 : x] - here[x + 1 < array->width ? x + 1 : x];
            block[1] = slope(across, table->quantval[0], table->quantval[1]);
            block[DCTSIZE] = slope(above[x] - below[x], table->quantval[0], table->quantval[DCTSIZE]);
        }
    }
}

static JBLOCKARRAY access_rows(
    j_common_ptr info, jvirt_barray_ptr array, JDIMENSION first_row, JDIMENSION row_count, boolean writable
) {
    if (row_count > WINDOW_HEIGHT || first_row > array->height || row_count > array->height - first_row)
        ERREXIT(info, JERR_BAD_VIRTUAL_ACCESS);
    const jpeg_component_info *channel = ((j_decompress_ptr)info)->comp_info + array->channel;
    bool is_interpolated = !writable && channel->DCT_scaled_size > 1 && channel->quant_table != NULL;
    if (is_interpolated || first_row != array->first_row || row_count > array->row_count)
        move_window(array, first_row, row_count);
    if (is_interpolated) interpolate(array, channel->quant_table);
    return array->window;
}

void dc_coefficients_install(DCCoefficients *coefficients, j_decompress_ptr info) {
    info->client_data = coefficients;
    info->mem->request_virt_barray = request;
    info->mem->access_virt_barray = access_rows;
}
