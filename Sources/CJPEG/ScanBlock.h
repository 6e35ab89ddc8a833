// The Huffman codes of a block. Not visible to Swift. Include it only where <jpegint.h> exists, which it includes, and
// which must not be included twice.
#ifndef CJPEG_SCAN_BLOCK_H
#define CJPEG_SCAN_BLOCK_H

#include "ACTable.h"
#include "BitReader.h"
#include "BlockStartTable.h"

#include <jerror.h>
#include <jpegint.h>

/// A block of each MCU of a scan: its tables, and which of its coefficients are needed.
typedef struct ScanBlock {
    int channel;
    const BlockStartTable *start_table;
    const HuffmanTable *dc_table;
    const ACTable *ac_table;
    boolean stores_dc;
    boolean stores_ac;
} ScanBlock;

/// The natural order of coefficients in zigzag order. An invalid run can lead up to 15 coefficients beyond the block;
/// as in libjpeg, the last one takes their values.
static const uint8_t natural_order[DCTSIZE2 + 15] = {
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
};

// MARK: Symbols

// These functions are always inlined, and are in a header, so that the fields of the reader stay in registers.
#define INLINED static inline __attribute__((always_inline))

/// Returns FALSE if more bits have been used than there are bytes, but the others may still arrive. After a marker,
/// zeros replace them.
INLINED boolean has_used_bits(BitReader *reader) {
    if (__builtin_expect(reader->count >= 0, 1)) return TRUE;
    if (reader->info->unread_marker == 0) return FALSE;
    if (!reader->info->entropy->insufficient_data) WARNMS(reader->info, JWRN_HIT_MARKER);
    reader->info->entropy->insufficient_data = TRUE;
    reader->bits = 0;
    reader->count = 0;
    return TRUE;
}

/// The number of bits for the four reads of pairs between refills.
enum { BITS_PER_READS = 4 * HUFFMAN_INDEX_BITS };

_Static_assert(HUFFMAN_INDEX_BITS + BITS_PER_READS <= BITS_PER_REFILL, "too few bits for the start of a block as well");

/// Reads a symbol whose index does not determine it.
INLINED HuffmanEntry read_long_symbol(BitReader *reader, const HuffmanTable *table, HuffmanEntry entry) {
    if (reader->count < HUFFMAN_LONGEST_SYMBOL) {
        bit_reader_refill(reader);
        entry = table->entries[bit_reader_peek(reader, HUFFMAN_INDEX_BITS)];
    }
    int length = huffman_entry_length(entry);
    if (length == 0) {
        entry = huffman_table_search(table, bit_reader_peek(reader, HUFFMAN_LONGEST_CODE), &length);
        if (length > HUFFMAN_LONGEST_CODE) {
            bit_reader_drop(reader, length);
            if (has_used_bits(reader)) WARNMS(reader->info, JWRN_HUFF_BAD_CODE);
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
    return entry;
}

/// Reads a symbol. At least HUFFMAN_INDEX_BITS must have been read, unless the bytes end. Without its bytes, it is an
/// end of block, and `has_used_bits` is FALSE afterwards.
INLINED HuffmanEntry read_symbol(BitReader *reader, const HuffmanTable *table) {
    HuffmanEntry entry = table->entries[bit_reader_peek(reader, HUFFMAN_INDEX_BITS)];
    if (__builtin_expect(huffman_entry_is_complete(entry), 1))
        bit_reader_drop(reader, huffman_entry_length(entry));
    else
        entry = read_long_symbol(reader, table, entry);
    return has_used_bits(reader) ? entry : huffman_entry(0, 1, HUFFMAN_END_OF_BLOCK, 0);
}

// MARK: Blocks

/// Reads the DC difference of a block, which it adds to `dc`, and possibly an AC symbol. `coefficients` may be NULL.
/// Returns the end of the coefficients that have been read; 0 if bytes are missing.
INLINED uint32_t read_start(BitReader *reader, const ScanBlock *block, int *dc, JCOEF *coefficients) {
    BlockStart start = block->start_table->entries[bit_reader_peek(reader, HUFFMAN_INDEX_BITS)];
    if (__builtin_expect(start != 0, 1)) {
        bit_reader_drop(reader, block_start_length(start));
        if (!has_used_bits(reader)) return 0;
        *dc = (int)((unsigned)*dc + (unsigned)block_start_difference(start));
        uint32_t advance = block_start_advance(start);
        // Without an AC coefficient, this is the place of the DC coefficient, which is stored later.
        if (coefficients != NULL) coefficients[natural_order[advance]] = block_start_value(start);
        return block_start_ends_block(start) ? DCTSIZE2 : advance + 1;
    }
    HuffmanEntry difference = read_symbol(reader, block->dc_table);
    if (!has_used_bits(reader)) return 0;
    *dc = (int)((unsigned)*dc + (unsigned)huffman_entry_value(difference));
    bit_reader_refill(reader);
    return 1;
}

/// Reads one or two symbols of a block, which may be NULL, after the coefficients before `end`, and advances that.
/// HUFFMAN_INDEX_BITS must have been read. Returns FALSE, and reads nothing, if they do not determine a symbol and its
/// value, or if it reaches the last coefficient.
INLINED boolean read_pair(BitReader *reader, const ACTable *table, JCOEF *block, uint32_t *end) {
    ACPair pair = table->pairs[bit_reader_peek(reader, HUFFMAN_INDEX_BITS)];
    uint32_t first_end = *end + ac_pair_first_advance(pair);
    // After the last coefficient of a block, what follows belongs to the next one.
    if (__builtin_expect(first_end >= DCTSIZE2, 0)) return FALSE;
    bit_reader_drop(reader, ac_pair_length(pair));
    if (block != NULL) {
        block[natural_order[first_end - 1]] = ac_pair_first_value(pair);
        block[natural_order[*end + ac_pair_second_advance(pair) - 1]] = ac_pair_second_value(pair);
    }
    *end += ac_pair_advance(pair);
    return TRUE;
}

/// Reads the AC coefficients of a block, which may be NULL, from `end` on and as far as there are bytes.
INLINED void read_ac(BitReader *reader, const ACTable *table, JCOEF *block, uint32_t end) {
    for (;;) {
        // A check of the bits before each read would often be mispredicted.
        while (reader->count >= BITS_PER_READS) {
            if (!read_pair(reader, table, block, &end)) break;
            if (end >= DCTSIZE2) return;
            if (!read_pair(reader, table, block, &end)) break;
            if (end >= DCTSIZE2) return;
            if (!read_pair(reader, table, block, &end)) break;
            if (end >= DCTSIZE2) return;
            if (!read_pair(reader, table, block, &end)) break;
            if (end >= DCTSIZE2) return;
            bit_reader_refill(reader);
        }
        HuffmanEntry entry = read_symbol(reader, &table->symbols);
        end += huffman_entry_advance(entry);
        int16_t value = huffman_entry_value(entry);
        if (block != NULL && value != 0) block[natural_order[end - 1]] = value;
        if (end >= DCTSIZE2) return;
        bit_reader_refill(reader);
    }
}

/// Reads a block, and advances `dc` from the DC coefficient of the previous one to that of this one. Returns FALSE if
/// bytes are missing; the coefficients that it has stored until then are correct.
INLINED boolean scan_block_read(const ScanBlock *block, BitReader *reader, int *dc, JCOEF *coefficients) {
    JCOEF *ac_coefficients = block->stores_ac ? coefficients : NULL;
    bit_reader_refill(reader);
    uint32_t end = read_start(reader, block, dc, ac_coefficients);
    if (end == 0) return FALSE;
    if (block->stores_dc) coefficients[0] = (JCOEF)*dc;
    if (end >= DCTSIZE2) return TRUE;
    // Two copies of the loop, neither of which examines the pointer.
    if (ac_coefficients != NULL)
        read_ac(reader, block->ac_table, ac_coefficients, end);
    else
        read_ac(reader, block->ac_table, NULL, end);
    return has_used_bits(reader);
}

#undef INLINED

#endif
