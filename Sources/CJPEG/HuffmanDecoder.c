#include "HuffmanDecoder.h"

#if defined(LIBJPEG_TURBO_VERSION) && __has_include(<jpegint.h>)

#include "ACTable.h"
#include "BitReader.h"
#include "BlockStartTable.h"
#include "HuffmanTable.h"
#include "ScanBlock.h"
#include "SpareBytes.h"

/// libjpeg's entropy decoder, the first member because libjpeg passes back a pointer to it.
typedef struct HuffmanDecoder {
    struct jpeg_entropy_decoder interface;
    /// The bits that have been read but not used, as in BitReader.
    uint64_t bits;
    int bit_count;
    /// The number of MCUs until the next restart marker, if there are any.
    unsigned mcus_until_restart;
    /// The DC coefficient of the previous block of each channel.
    int last_dc[MAX_COMPS_IN_SCAN];
    HuffmanTable *dc_tables[NUM_HUFF_TBLS];
    ACTable *ac_tables[NUM_HUFF_TBLS];
    /// By channel; not used if an earlier channel has the same one.
    BlockStartTable *start_tables[MAX_COMPS_IN_SCAN];
    /// A bit for each component of the file that the scans so far have had.
    unsigned seen_components;
    ScanBlock blocks[D_MAX_BLOCKS_IN_MCU];
    SpareBytes spare_bytes;
} HuffmanDecoder;

// MARK: Scans

/// Returns whether a table is to be built: an earlier channel of the scan may have the same one. `built` has a bit for
/// each of these.
static boolean is_new(j_decompress_ptr info, int number, unsigned *built) {
    if (number < 0 || number >= NUM_HUFF_TBLS) ERREXIT1(info, JERR_NO_HUFF_TABLE, number);
    boolean is_new = (*built & 1u << number) == 0;
    *built |= 1u << number;
    return is_new;
}

static void prepare_dc(j_decompress_ptr info, HuffmanTable **table, int number) {
    if (*table == NULL) *table = info->mem->alloc_small((j_common_ptr)info, JPOOL_IMAGE, sizeof **table);
    huffman_table_build(*table, info, number, 1);
}

static void prepare_ac(j_decompress_ptr info, ACTable **table, int number, int stores_zeros) {
    if (*table == NULL) *table = info->mem->alloc_small((j_common_ptr)info, JPOOL_IMAGE, sizeof **table);
    ac_table_build(*table, info, number, stores_zeros);
}

/// Returns the first channel with the same tables as `channel`.
static int first_alike(j_decompress_ptr info, int channel) {
    const jpeg_component_info *component = info->cur_comp_info[channel];
    int first = 0;
    while (info->cur_comp_info[first]->dc_tbl_no != component->dc_tbl_no
        || info->cur_comp_info[first]->ac_tbl_no != component->ac_tbl_no) first++;
    return first;
}

static void prepare_start(j_decompress_ptr info, HuffmanDecoder *decoder, int channel) {
    const jpeg_component_info *component = info->cur_comp_info[channel];
    BlockStartTable **table = &decoder->start_tables[channel];
    if (*table == NULL) *table = info->mem->alloc_small((j_common_ptr)info, JPOOL_IMAGE, sizeof **table);
    block_start_table_build(
        *table, decoder->dc_tables[component->dc_tbl_no], &decoder->ac_tables[component->ac_tbl_no]->symbols);
}

static void prepare_block(j_decompress_ptr info, HuffmanDecoder *decoder, int index) {
    int channel = info->MCU_membership[index];
    const jpeg_component_info *component = info->cur_comp_info[channel];
    decoder->blocks[index] = (ScanBlock){
        .channel = channel,
        .start_table = decoder->start_tables[first_alike(info, channel)],
        .dc_table = decoder->dc_tables[component->dc_tbl_no],
        .ac_table = decoder->ac_tables[component->ac_tbl_no],
        .stores_dc = component->component_needed,
        // At 1/8, a pixel is the DC coefficient.
        .stores_ac = component->component_needed && component->DCT_scaled_size > 1,
    };
}

/// Returns whether all blocks of the scan are zero: none of its components was in an earlier scan. libjpeg accepts
/// files with such components, and keeps the coefficients that a later scan does not have.
static boolean has_new_blocks(j_decompress_ptr info, HuffmanDecoder *decoder) {
    unsigned components = 0;
    for (int channel = 0; channel < info->comps_in_scan; channel++)
        components |= 1u << info->cur_comp_info[channel]->component_index;
    boolean has_new_blocks = (decoder->seen_components & components) == 0;
    decoder->seen_components |= components;
    return has_new_blocks;
}

static void start_scan(j_decompress_ptr info) {
    HuffmanDecoder *decoder = (HuffmanDecoder *)info->entropy;
    unsigned built_dc = 0, built_ac = 0;
    boolean stores_zeros = has_new_blocks(info, decoder);
    for (int channel = 0; channel < info->comps_in_scan; channel++) {
        int dc = info->cur_comp_info[channel]->dc_tbl_no, ac = info->cur_comp_info[channel]->ac_tbl_no;
        if (is_new(info, dc, &built_dc)) prepare_dc(info, &decoder->dc_tables[dc], dc);
        if (is_new(info, ac, &built_ac)) prepare_ac(info, &decoder->ac_tables[ac], ac, stores_zeros);
    }
    for (int channel = 0; channel < info->comps_in_scan; channel++)
        if (first_alike(info, channel) == channel) prepare_start(info, decoder, channel);
    for (int index = 0; index < info->blocks_in_MCU; index++) prepare_block(info, decoder, index);
    memset(decoder->last_dc, 0, sizeof decoder->last_dc);
    decoder->bits = 0;
    decoder->bit_count = 0;
    decoder->mcus_until_restart = info->restart_interval;
    decoder->interface.insufficient_data = FALSE;
    decoder->spare_bytes = (SpareBytes){0};
}

// MARK: Position

static BitReader position(const HuffmanDecoder *decoder, j_decompress_ptr info) {
    const struct jpeg_source_mgr *source = info->src;
    // What follows a marker is read only after libjpeg has processed it.
    size_t available = info->unread_marker == 0 ? source->bytes_in_buffer : 0;
    const JOCTET *next = source->next_input_byte;
    return (BitReader){decoder->bits, decoder->bit_count, next, next + available, info};
}

static void keep_position(HuffmanDecoder *decoder, const BitReader *reader) {
    struct jpeg_source_mgr *source = reader->info->src;
    source->bytes_in_buffer -= (size_t)(reader->next - source->next_input_byte);
    source->next_input_byte = reader->next;
    decoder->bits = reader->bits;
    decoder->bit_count = reader->count;
}

static boolean read_spare_bytes(j_decompress_ptr info, HuffmanDecoder *decoder, boolean precede_restart) {
    BitReader reader = position(decoder, info);
    boolean is_read = spare_bytes_read(&decoder->spare_bytes, &reader, decoder->blocks, precede_restart);
    keep_position(decoder, &reader);
    return is_read;
}

int huffman_decoder_finish_scan(j_decompress_ptr info) {
    return read_spare_bytes(info, (HuffmanDecoder *)info->entropy, FALSE);
}

/// Reads a restart marker. Returns FALSE if it has not been received.
static boolean restart(j_decompress_ptr info, HuffmanDecoder *decoder) {
    if (!read_spare_bytes(info, decoder, TRUE)) return FALSE;
    if (!info->marker->read_restart_marker(info)) return FALSE;
    memset(decoder->last_dc, 0, sizeof decoder->last_dc);
    decoder->mcus_until_restart = info->restart_interval;
    // Without a marker that belongs here, the remaining data was lost.
    if (info->unread_marker == 0) decoder->interface.insufficient_data = FALSE;
    return TRUE;
}

// MARK: Blocks

/// Reads the blocks of an MCU, and advances the position. Returns FALSE if bytes are missing.
static boolean read_blocks(const HuffmanDecoder *decoder, BitReader *position, int *last_dc, JBLOCKROW *mcu) {
    BitReader reader = *position;
    for (int index = 0; index < reader.info->blocks_in_MCU; index++) {
        const ScanBlock *block = &decoder->blocks[index];
        if (!scan_block_read(block, &reader, &last_dc[block->channel], *mcu[index])) return FALSE;
    }
    *position = reader;
    return TRUE;
}

/// Reads the blocks of an MCU. Returns FALSE if its bytes have not all been received: libjpeg then calls it again with
/// more, and it starts again. The coefficients that it has stored until then are correct.
static boolean decode_mcu(j_decompress_ptr info, JBLOCKROW *mcu) {
    HuffmanDecoder *decoder = (HuffmanDecoder *)info->entropy;
    if (info->restart_interval > 0 && decoder->mcus_until_restart == 0 && !restart(info, decoder)) return FALSE;
    if (!decoder->interface.insufficient_data) {
        BitReader reader = position(decoder, info);
        int last_dc[MAX_COMPS_IN_SCAN];
        memcpy(last_dc, decoder->last_dc, sizeof last_dc);
        if (!read_blocks(decoder, &reader, last_dc, mcu)) return FALSE;
        keep_position(decoder, &reader);
        memcpy(decoder->last_dc, last_dc, sizeof last_dc);
    }
    if (info->restart_interval > 0) decoder->mcus_until_restart--;
    return TRUE;
}

int huffman_decoder_install(j_decompress_ptr info) {
    if (info->progressive_mode || info->arith_code || info->data_precision != BITS_IN_JSAMPLE) return 0;
    HuffmanDecoder *decoder = info->mem->alloc_small((j_common_ptr)info, JPOOL_IMAGE, sizeof *decoder);
    memset(decoder, 0, sizeof *decoder);
    decoder->interface.start_pass = start_scan;
    decoder->interface.decode_mcu = decode_mcu;
    info->entropy = &decoder->interface;
    // libjpeg has started the first scan with its own decoder.
    start_scan(info);
    return 1;
}

#else

int huffman_decoder_install(j_decompress_ptr info) {
    (void)info;
    return 0;
}

int huffman_decoder_finish_scan(j_decompress_ptr info) {
    (void)info;
    return 1;
}

#endif
