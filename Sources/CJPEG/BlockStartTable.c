#include "BlockStartTable.h"

// The values of symbols that fit into an index have fewer bits than it.
_Static_assert(HUFFMAN_INDEX_BITS <= 11, "too few bits for the values");

static BlockStart make_start(const HuffmanTable *dc, const HuffmanTable *ac, uint32_t index) {
    HuffmanEntry difference = dc->entries[index];
    if (!huffman_entry_is_complete(difference)) return 0;
    int length = huffman_entry_length(difference);
    uint32_t advance = 0, ends_block = 0, value = 0;
    HuffmanEntry first = ac->entries[index << length & ((1u << HUFFMAN_INDEX_BITS) - 1)];
    int is_run_of_zeros = huffman_entry_value(first) == 0 && huffman_entry_advance(first) < HUFFMAN_END_OF_BLOCK;
    if (huffman_entry_is_complete(first) && length + huffman_entry_length(first) <= HUFFMAN_INDEX_BITS
        && !is_run_of_zeros) {
        length += huffman_entry_length(first);
        ends_block = huffman_entry_advance(first) >= HUFFMAN_END_OF_BLOCK;
        if (!ends_block) advance = huffman_entry_advance(first);
        value = (uint32_t)huffman_entry_value(first) & 0x7FF;
    }
    return (BlockStart)length | advance << 4 | ends_block << 9 | value << 10
        | (BlockStart)huffman_entry_value(difference) << 21;
}

void block_start_table_build(BlockStartTable *table, const HuffmanTable *dc, const HuffmanTable *ac) {
    for (uint32_t index = 0; index < 1u << HUFFMAN_INDEX_BITS; index++)
        table->entries[index] = make_start(dc, ac, index);
}
