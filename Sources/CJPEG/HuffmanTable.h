// A table that decodes most symbols and their values in one step. Not visible to Swift.
#ifndef CJPEG_HUFFMAN_TABLE_H
#define CJPEG_HUFFMAN_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

/// The number of bits that a step examines. 97% of the coefficients of a photograph have no more.
enum { HUFFMAN_INDEX_BITS = 10 };

/// The maximum length of a code in bits.
enum { HUFFMAN_LONGEST_CODE = 16 };

/// The maximum number of bits of a code and its value.
enum { HUFFMAN_LONGEST_SYMBOL = HUFFMAN_LONGEST_CODE + 15 };

/// The advance of an end of block: more than the coefficients of a block.
enum { HUFFMAN_END_OF_BLOCK = DCTSIZE2 };

/// A decoded symbol: the number of bits, a flag, the advance, and the value.
///
/// The advance is the number of coefficients up to and including the one with the value; of a DC symbol, it is 0. A
/// value of 0 is not a coefficient, only an advance. Without the flag, the entry describes the code alone, and its
/// value is the number of bits of the value that follow; no bits at all mean that the code is longer than an index,
/// or invalid.
typedef uint32_t HuffmanEntry;

typedef struct HuffmanTable {
    HuffmanEntry entries[1 << HUFFMAN_INDEX_BITS];
    /// For each length, the end of the codes up to that length, as the first bits of HUFFMAN_LONGEST_CODE.
    uint32_t end[HUFFMAN_LONGEST_CODE + 1];
    /// For each length, the difference between the index of a symbol and its code.
    int32_t offset[HUFFMAN_LONGEST_CODE + 1];
    UINT8 symbols[256];
    int is_dc;
} HuffmanTable;

static inline int huffman_entry_length(HuffmanEntry entry) { return entry & 31; }
static inline int huffman_entry_is_complete(HuffmanEntry entry) { return (entry & 0x80) != 0; }
static inline uint32_t huffman_entry_advance(HuffmanEntry entry) { return entry >> 8 & 0xFF; }
static inline int16_t huffman_entry_value(HuffmanEntry entry) { return (int16_t)(entry >> 16); }

static inline HuffmanEntry huffman_entry(int length, int is_complete, uint32_t advance, int value) {
    return (uint32_t)length | (is_complete ? 0x80 : 0) | advance << 8 | (uint32_t)value << 16;
}

/// Returns the number of indexes that begin with a symbol that is complete; otherwise, 1.
static inline uint32_t huffman_entry_index_count(HuffmanEntry entry) {
    return huffman_entry_is_complete(entry) ? 1u << (HUFFMAN_INDEX_BITS - huffman_entry_length(entry)) : 1;
}

/// Returns the value whose `size` bits, at least 1, are `bits` (ITU-T T.81, F.2.2.1, EXTEND).
static inline int huffman_value(uint32_t bits, int size) {
    return (int)bits - (bits >> (size - 1) != 0 ? 0 : (1 << size) - 1);
}

/// Builds the table of a definition in the file. Reports JERR_NO_HUFF_TABLE or JERR_BAD_HUFF_TABLE if there is none, or
/// it is invalid.
void huffman_table_build(HuffmanTable *table, j_decompress_ptr info, int number, int is_dc);

/// Returns the entry, complete but for its length, of a code that is longer than an index, and stores its length. A
/// length above HUFFMAN_LONGEST_CODE means that there is no such code; like libjpeg, it then returns an end of block
/// or a difference of 0. `bits` are the next HUFFMAN_LONGEST_CODE bits.
HuffmanEntry huffman_table_search(const HuffmanTable *table, uint32_t bits, int *length);

#endif
