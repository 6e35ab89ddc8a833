#include "HuffmanTable.h"

#include <string.h>

#include <jerror.h>

/// Returns the entry of a code without its value.
static HuffmanEntry code_entry(int symbol, int length, int is_dc) {
    int size = symbol & 15, run = symbol >> 4;
    if (is_dc) return huffman_entry(length, 0, 0, size);
    uint32_t advance = size > 0 || run == 15 ? (uint32_t)run + 1 : HUFFMAN_END_OF_BLOCK;
    return huffman_entry(length, 0, advance, size);
}

/// Fills in the entries of all indexes that begin with `code`.
static void fill(HuffmanTable *table, uint32_t code, HuffmanEntry entry) {
    int length = huffman_entry_length(entry), size = huffman_entry_value(entry);
    int rest = HUFFMAN_INDEX_BITS - length;
    HuffmanEntry *next = table->entries + (code << rest);
    if (size > rest) {
        for (uint32_t index = 0; index < 1u << rest; index++) *next++ = entry;
        return;
    }
    for (uint32_t bits = 0; bits < 1u << size; bits++) {
        int value = size > 0 ? huffman_value(bits, size) : 0;
        HuffmanEntry complete = huffman_entry(length + size, 1, huffman_entry_advance(entry), value);
        for (uint32_t index = 0; index < 1u << (rest - size); index++) *next++ = complete;
    }
}

void huffman_table_build(HuffmanTable *table, j_decompress_ptr info, int number, int is_dc) {
    JHUFF_TBL **definitions = is_dc ? info->dc_huff_tbl_ptrs : info->ac_huff_tbl_ptrs;
    const JHUFF_TBL *definition = definitions[number];
    if (definition == NULL) ERREXIT1(info, JERR_NO_HUFF_TABLE, number);
    memset(table->entries, 0, sizeof table->entries);
    memcpy(table->symbols, definition->huffval, sizeof table->symbols);
    table->is_dc = is_dc;
    uint32_t code = 0;
    int index = 0;
    for (int length = 1; length <= HUFFMAN_LONGEST_CODE; length++) {
        int count = definition->bits[length];
        // No code consists of ones alone.
        if (index + count > (int)sizeof table->symbols || code + (uint32_t)count >= 1u << length)
            ERREXIT(info, JERR_BAD_HUFF_TABLE);
        table->offset[length] = index - (int32_t)code;
        for (; count > 0; count--, code++, index++) {
            int symbol = table->symbols[index];
            if (is_dc && symbol > 15) ERREXIT(info, JERR_BAD_HUFF_TABLE);
            if (length <= HUFFMAN_INDEX_BITS) fill(table, code, code_entry(symbol, length, is_dc));
        }
        table->end[length] = code << (HUFFMAN_LONGEST_CODE - length);
        code <<= 1;
    }
}

HuffmanEntry huffman_table_search(const HuffmanTable *table, uint32_t bits, int *length) {
    *length = HUFFMAN_INDEX_BITS + 1;
    while (*length <= HUFFMAN_LONGEST_CODE && bits >= table->end[*length]) *length += 1;
    if (*length > HUFFMAN_LONGEST_CODE) return code_entry(0, 0, table->is_dc);
    int32_t code = (int32_t)(bits >> (HUFFMAN_LONGEST_CODE - *length));
    return code_entry(table->symbols[(code + table->offset[*length]) & 0xFF], 0, table->is_dc);
}
