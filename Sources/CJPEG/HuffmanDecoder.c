#include "HuffmanDecoder.h"

#if defined(LIBJPEG_TURBO_VERSION) && __has_include(<jpegint.h>)

#include "ACTable.h"
#include "BitReader.h"
#include "HuffmanTable.h"

#include <jerror.h>
#include <jpegint.h>

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
} HuffmanDecoder;

/// The natural order of coefficients in zigzag order. An invalid run can lead up to 15 coefficients beyond the block;
/// as in libjpeg, the last one takes their values.
static const uint8_t natural_order[DCTSIZE2 + 15] = {
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
};

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

static void prepare_ac(j_decompress_ptr info, ACTable **table, int number) {
    if (*table == NULL) *table = info->mem->alloc_small((j_common_ptr)info, JPOOL_IMAGE, sizeof **table);
    ac_table_build(*table, info, number);
}

static void start_scan(j_decompress_ptr info) {
    HuffmanDecoder *decoder = (HuffmanDecoder *)info->entropy;
    unsigned built_dc = 0, built_ac = 0;
    for (int channel = 0; channel < info->comps_in_scan; channel++) {
        int dc = info->cur_comp_info[channel]->dc_tbl_no, ac = info->cur_comp_info[channel]->ac_tbl_no;
        if (is_new(info, dc, &built_dc)) prepare_dc(info, &decoder->dc_tables[dc], dc);
        if (is_new(info, ac, &built_ac)) prepare_ac(info, &decoder->ac_tables[ac], ac);
    }
    memset(decoder->last_dc, 0, sizeof decoder->last_dc);
    decoder->bits = 0;
    decoder->bit_count = 0;
    decoder->mcus_until_restart = info->restart_interval;
    decoder->interface.insufficient_data = FALSE;
}

void huffman_decoder_report_unused_bytes(j_decompress_ptr info) {
    int count = ((const HuffmanDecoder *)info->entropy)->bit_count / 8;
    // libjpeg reports them, and the following ones, once it finds a marker.
    if (info->unread_marker == 0) info->marker->discarded_bytes += (unsigned)count;
    else if (count > 0) WARNMS2(info, JWRN_EXTRANEOUS_DATA, count, info->unread_marker);
}

/// Reads a restart marker. Returns FALSE if it has not been received.
static boolean restart(j_decompress_ptr info, HuffmanDecoder *decoder) {
    huffman_decoder_report_unused_bytes(info);
    decoder->bits = 0;
    decoder->bit_count = 0;
    if (!info->marker->read_restart_marker(info)) return FALSE;
    memset(decoder->last_dc, 0, sizeof decoder->last_dc);
    decoder->mcus_until_restart = info->restart_interval;
    // Without a marker that belongs here, the remaining data was lost.
    if (info->unread_marker == 0) decoder->interface.insufficient_data = FALSE;
    return TRUE;
}

// MARK: Symbols

// The functions below are always inlined, so that the fields of the reader stay in registers.
#define INLINED static inline __attribute__((always_inline))

/// Returns FALSE if more bits have been used than there are bytes, but the others may still arrive. After a marker,
/// zeros replace them.
INLINED boolean has_used_bits(HuffmanDecoder *decoder, BitReader *reader) {
    if (__builtin_expect(reader->count >= 0, 1)) return TRUE;
    if (reader->info->unread_marker == 0) return FALSE;
    if (!decoder->interface.insufficient_data) WARNMS(reader->info, JWRN_HIT_MARKER);
    decoder->interface.insufficient_data = TRUE;
    reader->bits = 0;
    reader->count = 0;
    return TRUE;
}

/// The number of reads between refills. A symbol that is longer than an index refills by itself.
enum { READS_PER_REFILL = 4 };

_Static_assert(READS_PER_REFILL * HUFFMAN_INDEX_BITS <= BITS_PER_REFILL, "too few bits for the indexes");

/// Reads a symbol whose index does not determine it.
INLINED HuffmanEntry read_long_symbol(
    HuffmanDecoder *decoder, BitReader *reader, const HuffmanTable *table, HuffmanEntry entry
) {
    if (reader->count < HUFFMAN_LONGEST_SYMBOL) {
        bit_reader_refill(reader);
        entry = table->entries[bit_reader_peek(reader, HUFFMAN_INDEX_BITS)];
    }
    int length = huffman_entry_length(entry);
    if (length == 0) {
        entry = huffman_table_search(table, bit_reader_peek(reader, HUFFMAN_LONGEST_CODE), &length);
        if (length > HUFFMAN_LONGEST_CODE) {
            bit_reader_drop(reader, length);
            if (has_used_bits(decoder, reader)) WARNMS(reader->info, JWRN_HUFF_BAD_CODE);
            return entry;
        }
    }
    bit_reader_drop(reader, length);
    int size = huffman_entry_is_complete(entry) ? 0 : huffman_entry_value(entry);
    if (size > 0) {
        int value = huffman_value(bit_reader_peek(reader, size), size);
        bit_reader_drop(reader, size);
        entry = huffman_entry(0, 1, huffman_entry_advance(entry), value);
    }
    // Further symbols follow without a refill.
    if (reader->count >= 0 && reader->count < READS_PER_REFILL * HUFFMAN_INDEX_BITS) bit_reader_refill(reader);
    return entry;
}

/// Reads a symbol. At least HUFFMAN_INDEX_BITS must have been read, unless the bytes end. Without its bytes, it is an
/// end of block, and `has_used_bits` is FALSE afterwards.
INLINED HuffmanEntry read_symbol(HuffmanDecoder *decoder, BitReader *reader, const HuffmanTable *table) {
    HuffmanEntry entry = table->entries[bit_reader_peek(reader, HUFFMAN_INDEX_BITS)];
    if (__builtin_expect(huffman_entry_is_complete(entry), 1))
        bit_reader_drop(reader, huffman_entry_length(entry));
    else
        entry = read_long_symbol(decoder, reader, table, entry);
    return has_used_bits(decoder, reader) ? entry : huffman_entry(0, 1, HUFFMAN_END_OF_BLOCK, 0);
}

// MARK: Blocks

/// Reads at least one symbol of a block, which may be NULL, after the coefficients before `end`. Returns the new end.
INLINED uint32_t read_coefficients(
    HuffmanDecoder *decoder, BitReader *reader, const ACTable *table, JCOEF *block, uint32_t end
) {
    ACPair pair = table->pairs[bit_reader_peek(reader, HUFFMAN_INDEX_BITS)];
    uint32_t first_end = end + ac_pair_first_advance(pair);
    // After the last coefficient of a block, what follows belongs to the next one.
    if (__builtin_expect(pair != 0 && first_end < DCTSIZE2, 1)) {
        bit_reader_drop(reader, ac_pair_length(pair));
        if (!has_used_bits(decoder, reader)) return DCTSIZE2;
        if (block != NULL) {
            block[natural_order[first_end - 1]] = ac_pair_first_value(pair);
            block[natural_order[end + ac_pair_second_advance(pair) - 1]] = ac_pair_second_value(pair);
        }
        return end + ac_pair_advance(pair);
    }
    HuffmanEntry entry = read_symbol(decoder, reader, &table->symbols);
    end += huffman_entry_advance(entry);
    int16_t value = huffman_entry_value(entry);
    if (block != NULL && value != 0) block[natural_order[end - 1]] = value;
    return end;
}

/// Reads the AC coefficients of a block, which may be NULL, as far as there are bytes.
INLINED void read_ac(HuffmanDecoder *decoder, BitReader *reader, const ACTable *table, JCOEF *block) {
    uint32_t end = 1;
    for (;;) {
        if (reader->count < BITS_PER_REFILL) bit_reader_refill(reader);
        // READS_PER_REFILL times: a check of the bits before each read would often be mispredicted.
        if ((end = read_coefficients(decoder, reader, table, block, end)) >= DCTSIZE2) return;
        if ((end = read_coefficients(decoder, reader, table, block, end)) >= DCTSIZE2) return;
        if ((end = read_coefficients(decoder, reader, table, block, end)) >= DCTSIZE2) return;
        if ((end = read_coefficients(decoder, reader, table, block, end)) >= DCTSIZE2) return;
    }
}

/// Reads the blocks of an MCU. Returns FALSE if bytes are missing.
static boolean read_blocks(HuffmanDecoder *decoder, BitReader *position, int *last_dc, JBLOCKROW *mcu) {
    BitReader reader = *position;
    j_decompress_ptr info = reader.info;
    for (int index = 0; index < info->blocks_in_MCU; index++) {
        int channel = info->MCU_membership[index];
        const jpeg_component_info *component = info->cur_comp_info[channel];
        if (reader.count < HUFFMAN_INDEX_BITS) bit_reader_refill(&reader);
        HuffmanEntry difference = read_symbol(decoder, &reader, decoder->dc_tables[component->dc_tbl_no]);
        if (!has_used_bits(decoder, &reader)) return FALSE;
        last_dc[channel] = (int)((unsigned)last_dc[channel] + (unsigned)huffman_entry_value(difference));

        const ACTable *table = decoder->ac_tables[component->ac_tbl_no];
        if (component->component_needed) (*mcu[index])[0] = (JCOEF)last_dc[channel];
        // At 1/8, a pixel is the DC coefficient.
        if (component->component_needed && component->DCT_scaled_size > 1)
            read_ac(decoder, &reader, table, *mcu[index]);
        else
            read_ac(decoder, &reader, table, NULL);
        if (!has_used_bits(decoder, &reader)) return FALSE;
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
        struct jpeg_source_mgr *source = info->src;
        BitReader reader = {
            decoder->bits, decoder->bit_count, source->next_input_byte,
            source->next_input_byte + source->bytes_in_buffer, info,
        };
        int last_dc[MAX_COMPS_IN_SCAN];
        memcpy(last_dc, decoder->last_dc, sizeof last_dc);
        if (!read_blocks(decoder, &reader, last_dc, mcu)) return FALSE;
        source->next_input_byte = reader.next;
        source->bytes_in_buffer = (size_t)(reader.end - reader.next);
        decoder->bits = reader.bits;
        decoder->bit_count = reader.count;
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

void huffman_decoder_report_unused_bytes(j_decompress_ptr info) {
    (void)info;
}

#endif
