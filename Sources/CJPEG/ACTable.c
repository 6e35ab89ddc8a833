#include "ACTable.h"

static ACPair pair(int length, uint32_t first_advance, uint32_t second_advance, uint32_t advance) {
    return (ACPair)length | (ACPair)first_advance << 8 | (ACPair)second_advance << 16 | (ACPair)advance << 24;
}

static ACPair make_pair(const HuffmanTable *symbols, uint32_t index, int stores_zeros) {
    HuffmanEntry first = symbols->entries[index];
    if (!huffman_entry_is_complete(first) || (!stores_zeros && huffman_entry_value(first) == 0))
        return pair(0, AC_PAIR_NONE, AC_PAIR_NONE, 0);
    int length = huffman_entry_length(first);
    uint32_t advance = huffman_entry_advance(first);
    // The next coefficient, if there is one, is 0.
    if (advance >= HUFFMAN_END_OF_BLOCK) return pair(length, 1, 1, advance);
    uint32_t first_advance = advance, second_advance = advance;
    uint16_t first_value = (uint16_t)huffman_entry_value(first), second_value = first_value;
    HuffmanEntry second = symbols->entries[index << length & ((1u << HUFFMAN_INDEX_BITS) - 1)];
    if (huffman_entry_is_complete(second) && length + huffman_entry_length(second) <= HUFFMAN_INDEX_BITS) {
        length += huffman_entry_length(second);
        advance += huffman_entry_advance(second);
        if (huffman_entry_value(second) != 0) {
            second_advance = advance;
            second_value = (uint16_t)huffman_entry_value(second);
        }
    }
    return pair(length, first_advance, second_advance, advance)
        | (ACPair)first_value << 32 | (ACPair)second_value << 48;
}

void ac_table_build(ACTable *table, j_decompress_ptr info, int number, int stores_zeros) {
    huffman_table_build(&table->symbols, info, number, 0);
    for (uint32_t index = 0; index < 1u << HUFFMAN_INDEX_BITS; index++)
        table->pairs[index] = make_pair(&table->symbols, index, stores_zeros);
}
