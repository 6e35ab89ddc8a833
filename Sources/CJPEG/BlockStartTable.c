#include "BlockStartTable.h"

// The values of symbols that fit into an index have fewer bits than it.
_Static_assert(HUFFMAN_INDEX_BITS <= 11, "too few bits for the values");

/// Makes the entries of the `count` indexes that begin with `difference`.
static void make_starts(BlockStart *starts, uint32_t count, HuffmanEntry difference, const HuffmanTable *ac) {
    int length = huffman_entry_length(difference);
    BlockStart alone = (BlockStart)length | (BlockStart)huffman_entry_value(difference) << 21;
    for (uint32_t rest = 0; rest < count; rest++) {
        HuffmanEntry first = ac->entries[rest << length];
        int first_length = huffman_entry_length(first);
        uint32_t advance = huffman_entry_advance(first), value = (uint32_t)huffman_entry_value(first) & 0x7FF;
        starts[rest] = alone;
        if (!huffman_entry_is_complete(first) || length + first_length > HUFFMAN_INDEX_BITS) continue;
        if (advance >= HUFFMAN_END_OF_BLOCK)
            starts[rest] = alone + (BlockStart)first_length + (1u << 9);
        else if (value != 0)
            starts[rest] = alone + (BlockStart)first_length + (advance << 4) + (value << 10);
    }
}

void block_start_table_build(BlockStartTable *table, const HuffmanTable *dc, const HuffmanTable *ac) {
    uint32_t count;
    for (uint32_t index = 0; index < 1u << HUFFMAN_INDEX_BITS; index += count) {
        HuffmanEntry difference = dc->entries[index];
        count = huffman_entry_index_count(difference);
        if (huffman_entry_is_complete(difference))
            make_starts(&table->entries[index], count, difference, ac);
        else
            table->entries[index] = 0;
    }
}
