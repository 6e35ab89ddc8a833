#include "BitCoefficients.h"
#include "BlockBits.h"

#include <stdint.h>
#include <string.h>

#include <jerror.h>

/// Replaces libjpeg's virtual array, which only its memory manager accesses.
///
/// Blocks exist only inside a window, which holds the rows requested last.
struct jvirt_barray_control {
    /// The channel: libjpeg requests arrays in the order of channels.
    int channel;
    JDIMENSION width;
    JDIMENSION height;
    /// A word for each block; NULL if the file is sequential.
    uint64_t *bits;
    JBLOCKROW window[MAX_SAMP_FACTOR];
    JDIMENSION window_height;
    JDIMENSION first_row;
    JDIMENSION row_count;
    /// Nonzero if the window reflects the bits.
    int is_expanded;
};

static jvirt_barray_ptr request(
    j_common_ptr info, int pool, boolean pre_zero, JDIMENSION width, JDIMENSION height, JDIMENSION max_access
) {
    (void)pre_zero;
    (void)max_access;
    j_decompress_ptr image = (j_decompress_ptr)info;
    BitCoefficients *coefficients = info->client_data;
    if (coefficients->channel_count >= image->num_components) ERREXIT(info, JERR_COMPONENT_COUNT);
    jvirt_barray_ptr array = info->mem->alloc_small(info, pool, sizeof *array);
    memset(array, 0, sizeof *array);
    array->channel = coefficients->channel_count++;
    array->width = width;
    array->height = height;
    if (image->progressive_mode) {
        size_t size = (size_t)width * height * sizeof *array->bits;
        array->bits = info->mem->alloc_large(info, pool, size);
        memset(array->bits, 0, size);
    }
    array->window_height = (JDIMENSION)image->comp_info[array->channel].v_samp_factor;
    for (JDIMENSION row = 0; row < array->window_height; row++) {
        array->window[row] = info->mem->alloc_large(info, pool, width * sizeof(JBLOCK));
        memset(array->window[row], 0, width * sizeof(JBLOCK));
    }
    return array;
}

/// Stores the bits of the rows in the window if they may have changed.
static void keep_window(jvirt_barray_ptr array) {
    if (!array->is_expanded) return;
    for (JDIMENSION row = 0; row < array->row_count; row++) {
        uint64_t *bits = array->bits + (size_t)(array->first_row + row) * array->width;
        for (JDIMENSION block = 0; block < array->width; block++)
            bits[block] = block_bits_pack(array->window[row][block]);
    }
    array->is_expanded = 0;
}

static void move_window(j_decompress_ptr info, jvirt_barray_ptr array, JDIMENSION first_row, JDIMENSION row_count) {
    keep_window(array);
    array->first_row = first_row;
    array->row_count = row_count;
    // No decoding depends on the DC coefficient of a block.
    if (info->progressive_mode && info->Ss == 0) return;
    for (JDIMENSION row = 0; row < row_count; row++) {
        if (array->bits == NULL) {
            memset(array->window[row], 0, array->width * sizeof(JBLOCK));
            continue;
        }
        const uint64_t *bits = array->bits + (size_t)(first_row + row) * array->width;
        for (JDIMENSION block = 0; block < array->width; block++)
            block_bits_unpack(bits[block], array->window[row][block]);
    }
    array->is_expanded = array->bits != NULL;
}

static JBLOCKARRAY access_rows(
    j_common_ptr info, jvirt_barray_ptr array, JDIMENSION first_row, JDIMENSION row_count, boolean writable
) {
    if (!writable || row_count > array->window_height || first_row > array->height
        || row_count > array->height - first_row)
        ERREXIT(info, JERR_BAD_VIRTUAL_ACCESS);
    // An image of one row of blocks has the same window in every scan.
    j_decompress_ptr image = (j_decompress_ptr)info;
    int wants_bits = array->bits != NULL && image->Ss > 0;
    if (first_row != array->first_row || row_count != array->row_count || (wants_bits && !array->is_expanded))
        move_window(image, array, first_row, row_count);
    return array->window;
}

void bit_coefficients_install(BitCoefficients *coefficients, j_decompress_ptr info) {
    info->client_data = coefficients;
    info->mem->request_virt_barray = request;
    info->mem->access_virt_barray = access_rows;
}
