#include "ACTable.h"

static ACPair pair(int length, uint32_t first_advance, uint32_t second_advance, uint32_t advance) {
    return (ACPair)length | (ACPair)first_advance << 8 | (ACPair)second_advance << 16 | (ACPair)advance << 24;
}

static void repeat(ACPair *pairs, uint32_t count, ACPair pair) {
    for (uint32_t index = 0; index < count; index++) pairs[index] = pair;
}

/// Makes the pairs of the `count` indexes that begin with the symbol `first`.
static void make_pairs(ACPair *pairs, uint32_t count, HuffmanEntry first, const HuffmanTable *symbols) {
    int length = huffman_entry_length(first);
    uint32_t advance = huffman_entry_advance(first);
    ACPair first_value = (uint16_t)huffman_entry_value(first);
    for (uint32_t rest = 0; rest < count; rest++) {
        HuffmanEntry second = symbols->entries[rest << length];
        int both = length + huffman_entry_length(second);
        if (!huffman_entry_is_complete(second) || both > HUFFMAN_INDEX_BITS) {
            pairs[rest] = pair(length, advance, advance, advance) | first_value << 32 | first_value << 48;
            continue;
        }
        uint32_t end = advance + huffman_entry_advance(second);
        ACPair second_value = (uint16_t)huffman_entry_value(second);
        pairs[rest] = second_value != 0
            ? pair(both, advance, end, end) | first_value << 32 | second_value << 48
            : pair(both, advance, advance, end) | first_value << 32 | first_value << 48;
    }
}

void ac_table_build(ACTable *table, j_decompress_ptr info, int number, int stores_zeros) {
    huffman_table_build(&table->symbols, info, number, 0);
    uint32_t count;
    for (uint32_t index = 0; index < 1u << HUFFMAN_INDEX_BITS; index += count) {
        HuffmanEntry first = table->symbols.entries[index];
        count = huffman_entry_index_count(first);
        ACPair *pairs = &table->pairs[index];
        if (!huffman_entry_is_complete(first) || (!stores_zeros && huffman_entry_value(first) == 0))
            repeat(pairs, count, pair(0, AC_PAIR_NONE, AC_PAIR_NONE, 0));
        else if (huffman_entry_advance(first) >= HUFFMAN_END_OF_BLOCK)
            // The next coefficient, if there is one, is 0.
            repeat(pairs, count, pair(huffman_entry_length(first), 1, 1, HUFFMAN_END_OF_BLOCK));
        else
            make_pairs(pairs, count, first, &table->symbols);
    }
}
