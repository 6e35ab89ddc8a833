#include "BlockBits.h"
#include "CoarseCoefficients.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <jerror.h>

/// The coefficients that are kept, by their places in a block: the first one, or all.
static const uint8_t PLACES[] = {0, 1, DCTSIZE, DCTSIZE + 1};

/// The contents of a window.
typedef enum Content {
    /// Zeros.
    CONTENT_NOTHING,
    /// DC coefficients, for a scan of them.
    CONTENT_DC,
    /// The kept coefficients, for another scan that does not refine, to which it adds others.
    CONTENT_SCAN,
    /// All coefficients, for a scan that refines; those that are not kept have no value, but are zero or not.
    CONTENT_REFINEMENT,
    /// The kept coefficients, for output.
    CONTENT_OUTPUT,
} Content;

/// Replaces libjpeg's virtual array, which only its memory manager accesses.
///
/// Blocks exist only inside a window, which holds the rows requested last. When it moves, the coefficients to be kept
/// are stored.
struct jvirt_barray_control {
    /// The channel: libjpeg requests arrays in the order of channels.
    int channel;
    JDIMENSION width;
    JDIMENSION height;
    /// The number of coefficients kept of each block.
    int count;
    JCOEF *values;
    /// A word for each block that tells which coefficients are nonzero; NULL if no scan depends on it.
    uint64_t *bits;
    JBLOCKROW window[MAX_SAMP_FACTOR];
    JDIMENSION window_height;
    JDIMENSION first_row;
    JDIMENSION row_count;
    Content content;
};

static void *request_zeros(j_common_ptr info, int pool, size_t size) {
    return memset(info->mem->alloc_large(info, pool, size), 0, size);
}

static jvirt_barray_ptr request(
    j_common_ptr info, int pool, boolean pre_zero, JDIMENSION width, JDIMENSION height, JDIMENSION max_access
) {
    (void)pre_zero;
    (void)max_access;
    j_decompress_ptr image = (j_decompress_ptr)info;
    CoarseCoefficients *coefficients = info->client_data;
    if (coefficients->channel_count >= image->num_components) ERREXIT(info, JERR_COMPONENT_COUNT);
    jvirt_barray_ptr array = info->mem->alloc_small(info, pool, sizeof *array);
    memset(array, 0, sizeof *array);
    array->channel = coefficients->channel_count++;
    array->width = width;
    array->height = height;
    const jpeg_component_info *channel = image->comp_info + array->channel;
    array->count = channel->DCT_scaled_size == 1 ? 1 : sizeof PLACES;
    size_t blocks = (size_t)width * height;
    array->values = request_zeros(info, pool, blocks * (size_t)array->count * sizeof *array->values);
    if (coefficients->has_refinements && image->progressive_mode && array->count > 1)
        array->bits = request_zeros(info, pool, blocks * sizeof *array->bits);
    array->window_height = (JDIMENSION)channel->v_samp_factor;
    for (JDIMENSION row = 0; row < array->window_height; row++)
        array->window[row] = request_zeros(info, pool, width * sizeof(JBLOCK));
    return array;
}

static JCOEF *row_values(jvirt_barray_ptr array, JDIMENSION row) {
    return array->values + (size_t)row * array->width * (size_t)array->count;
}

static uint64_t *row_bits(jvirt_barray_ptr array, JDIMENSION row) {
    return array->bits + (size_t)row * array->width;
}

static void clear_window(jvirt_barray_ptr array) {
    for (JDIMENSION row = 0; row < array->window_height; row++)
        memset(array->window[row], 0, array->width * sizeof(JBLOCK));
}

// MARK: Scans

static bool is_zero(const JCOEF *block) {
    uint64_t sum = 0;
    for (int word = 0; word < BLOCK_WORDS; word++) {
        uint64_t values;
        memcpy(&values, block + word * BLOCK_LANES, sizeof values);
        sum |= values;
    }
    return sum == 0;
}

/// Expands a row to the empty window. AC scans leave out DC coefficients.
static void load_row(j_decompress_ptr info, jvirt_barray_ptr array, JDIMENSION row) {
    JBLOCKROW blocks = array->window[row];
    const JCOEF *values = row_values(array, array->first_row + row);
    const uint64_t *bits = array->content == CONTENT_REFINEMENT ? row_bits(array, array->first_row + row) : NULL;
    for (JDIMENSION x = 0; x < array->width; x++, values += array->count) {
        if (bits != NULL && bits[x] == 0) continue;
        if (bits != NULL) block_bits_unpack(bits[x], blocks[x]);
        for (int index = info->progressive_mode; index < array->count; index++)
            blocks[x][PLACES[index]] = values[index];
    }
}

/// Stores a row of the window, and empties it.
static void store_row(j_decompress_ptr info, jvirt_barray_ptr array, JDIMENSION row) {
    JBLOCKROW blocks = array->window[row];
    JCOEF *values = row_values(array, array->first_row + row);
    uint64_t *bits = array->bits != NULL ? row_bits(array, array->first_row + row) : NULL;
    for (JDIMENSION x = 0; x < array->width; x++, values += array->count) {
        // No scan makes an AC coefficient zero.
        if (info->progressive_mode && is_zero(blocks[x])) continue;
        for (int index = info->progressive_mode; index < array->count; index++)
            values[index] = blocks[x][PLACES[index]];
        if (bits != NULL) bits[x] |= block_bits_pack(blocks[x]);
        memset(blocks[x], 0, sizeof(JBLOCK));
    }
}

// MARK: Output

/// Returns the lowest frequency of a block (dequantized by `step`) whose neighbors' DC coefficients (dequantized by
/// `dc_step`) differ by `difference`: the halves of the block are then on a line through the neighbors, a quarter
/// of a block from its center. The factor is that of libjpeg's 2 by 2 transform.
static JCOEF slope(int difference, UINT16 dc_step, UINT16 step) {
    if (step == 0) return 0;
    int64_t value = (int64_t)difference * dc_step * 32 / (step * (int64_t)232);
    return (JCOEF)(value < -1023 ? -1023 : value > 1023 ? 1023 : value);
}

/// Estimates the lowest frequencies of a row of the window from DC coefficients, until they are received: without
/// them, the pixels that libjpeg makes of a block would be equal.
static void interpolate_row(jvirt_barray_ptr array, JDIMENSION row, const JQUANT_TBL *table) {
    JDIMENSION y = array->first_row + row;
    const JCOEF *here = row_values(array, y);
    const JCOEF *above = row_values(array, y > 0 ? y - 1 : y);
    const JCOEF *below = row_values(array, y + 1 < array->height ? y + 1 : y);
    size_t count = (size_t)array->count;
    for (JDIMENSION x = 0; x < array->width; x++) {
        JCOEF *block = array->window[row][x];
        int across = here[(x > 0 ? x - 1 : x) * count] - here[(x + 1 < array->width ? x + 1 : x) * count];
        block[1] = slope(across, table->quantval[0], table->quantval[1]);
        block[DCTSIZE] = slope(above[x * count] - below[x * count], table->quantval[0], table->quantval[DCTSIZE]);
    }
}

static void fill_window(j_decompress_ptr info, jvirt_barray_ptr array) {
    const JQUANT_TBL *table = info->comp_info[array->channel].quant_table;
    bool is_interpolated = array->count > 1 && table != NULL && info->coef_bits != NULL
        && info->coef_bits[array->channel][1] < 0;
    for (JDIMENSION row = 0; row < array->row_count; row++) {
        const JCOEF *values = row_values(array, array->first_row + row);
        for (JDIMENSION x = 0; x < array->width; x++, values += array->count) {
            JCOEF *block = array->window[row][x];
            for (int index = 0; index < array->count; index++) block[PLACES[index]] = values[index];
        }
        if (is_interpolated) interpolate_row(array, row, table);
    }
}

// MARK: Access

/// Stores the coefficients that a scan has written to the window.
static void keep_window(j_decompress_ptr info, jvirt_barray_ptr array) {
    bool is_stored = array->content == CONTENT_SCAN || array->content == CONTENT_REFINEMENT;
    for (JDIMENSION row = 0; row < array->row_count; row++) {
        if (is_stored) store_row(info, array, row);
        if (array->content != CONTENT_DC) continue;
        JCOEF *values = row_values(array, array->first_row + row);
        for (JDIMENSION x = 0; x < array->width; x++, values += array->count) *values = array->window[row][x][0];
    }
    if (is_stored) array->content = CONTENT_NOTHING;
}

static void move_window(
    j_decompress_ptr info, jvirt_barray_ptr array, JDIMENSION first_row, JDIMENSION row_count, Content content
) {
    keep_window(info, array);
    if (array->content != content && array->content != CONTENT_NOTHING) clear_window(array);
    array->first_row = first_row;
    array->row_count = row_count;
    array->content = content;
    if (content == CONTENT_OUTPUT) return fill_window(info, array);
    for (JDIMENSION row = 0; row < row_count; row++) {
        if (content != CONTENT_DC) {
            load_row(info, array, row);
            continue;
        }
        const JCOEF *values = row_values(array, first_row + row);
        for (JDIMENSION x = 0; x < array->width; x++, values += array->count) array->window[row][x][0] = *values;
    }
}

static Content content_for(const struct jpeg_decompress_struct *info, jvirt_barray_ptr array) {
    if (!info->progressive_mode) return CONTENT_SCAN;
    if (info->Ss == 0) return CONTENT_DC;
    return info->Ah > 0 && array->bits != NULL ? CONTENT_REFINEMENT : CONTENT_SCAN;
}

static JBLOCKARRAY access_rows(
    j_common_ptr info, jvirt_barray_ptr array, JDIMENSION first_row, JDIMENSION row_count, boolean writable
) {
    if (row_count > array->window_height || first_row > array->height || row_count > array->height - first_row)
        ERREXIT(info, JERR_BAD_VIRTUAL_ACCESS);
    j_decompress_ptr image = (j_decompress_ptr)info;
    Content content = writable ? content_for(image, array) : CONTENT_OUTPUT;
    if (content == CONTENT_OUTPUT || content != array->content || first_row != array->first_row
        || row_count != array->row_count)
        move_window(image, array, first_row, row_count, content);
    return array->window;
}

void coarse_coefficients_install(CoarseCoefficients *coefficients, j_decompress_ptr info, int has_refinements) {
    coefficients->has_refinements = has_refinements;
    info->client_data = coefficients;
    info->mem->request_virt_barray = request;
    info->mem->access_virt_barray = access_rows;
}
