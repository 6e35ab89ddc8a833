// A table that decodes up to two AC coefficients in one step. Not visible to Swift.
#ifndef CJPEG_AC_TABLE_H
#define CJPEG_AC_TABLE_H

#include "HuffmanTable.h"

/// A symbol and what follows it, if an index determines both: a second coefficient, an end of block, or a run of zeros.
///
/// From the least significant bit: the number of bits; the advance of the first coefficient, that of the second one,
/// and that of everything, as in HuffmanEntry; and both values. Without a second coefficient, the first one takes its
/// place; a run of zeros ends with a coefficient of 0, and an end of block begins with one, so that two values can
/// always be stored. If an index does not determine a symbol and its value, the first advance is AC_PAIR_NONE.
typedef uint64_t ACPair;

/// Too large an advance for any block.
enum { AC_PAIR_NONE = DCTSIZE2 };

typedef struct ACTable {
    HuffmanTable symbols;
    ACPair pairs[1 << HUFFMAN_INDEX_BITS];
} ACTable;

static inline int ac_pair_length(ACPair pair) { return (int)(pair & 0xFF); }
static inline uint32_t ac_pair_first_advance(ACPair pair) { return pair >> 8 & 0xFF; }
static inline uint32_t ac_pair_second_advance(ACPair pair) { return pair >> 16 & 0xFF; }
static inline uint32_t ac_pair_advance(ACPair pair) { return pair >> 24 & 0xFF; }
static inline JCOEF ac_pair_first_value(ACPair pair) { return (JCOEF)(pair >> 32); }
static inline JCOEF ac_pair_second_value(ACPair pair) { return (JCOEF)(pair >> 48); }

/// Builds the table of a definition in the file; without pairs that store zeros unless `stores_zeros`. Reports errors
/// like huffman_table_build.
void ac_table_build(ACTable *table, j_decompress_ptr info, int number, int stores_zeros);

#endif
