// A table that decodes the DC difference and the first AC coefficient of a block in one step. Not visible to Swift.
#ifndef CJPEG_BLOCK_START_TABLE_H
#define CJPEG_BLOCK_START_TABLE_H

#include "HuffmanTable.h"

/// A DC difference and, if an index determines both, the first AC coefficient or the end of the block. Zero if an index
/// does not determine the difference.
///
/// From the least significant bit: 4 bits for the number of bits; 5 for the advance of the AC coefficient, as in
/// HuffmanEntry; 1 that is set for an end of block; and 11 for each value, first that of the AC coefficient. Without an
/// AC coefficient, its advance and its value are 0.
typedef uint32_t BlockStart;

typedef struct BlockStartTable {
    BlockStart entries[1 << HUFFMAN_INDEX_BITS];
} BlockStartTable;

static inline int block_start_length(BlockStart start) { return start & 15; }
static inline uint32_t block_start_advance(BlockStart start) { return start >> 4 & 31; }
static inline int block_start_ends_block(BlockStart start) { return (start & 1u << 9) != 0; }
static inline JCOEF block_start_value(BlockStart start) { return (JCOEF)((int32_t)(start << 11) >> 21); }
static inline int block_start_difference(BlockStart start) { return (int32_t)start >> 21; }

/// Builds the table for blocks with these tables of symbols.
void block_start_table_build(BlockStartTable *table, const HuffmanTable *dc, const HuffmanTable *ac);

#endif
