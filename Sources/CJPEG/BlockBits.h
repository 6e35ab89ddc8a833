// One bit for each coefficient of a block: whether it is zero.
#ifndef CJPEG_BLOCK_BITS_H
#define CJPEG_BLOCK_BITS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

/// A block is processed as words of four coefficients. Its bits are reordered: that of coefficient `lane` of word `w`
/// is bit `16 * lane + 15 - w`, so that no bit has to move between lanes.
enum { BLOCK_LANES = 4, BLOCK_WORDS = DCTSIZE2 / BLOCK_LANES };

static const uint64_t BLOCK_SIGNS = 0x8000800080008000;

static inline uint64_t block_bits_pack(const JCOEF *block) {
    uint64_t bits = 0;
    for (int word = 0; word < BLOCK_WORDS; word++) {
        uint64_t values;
        memcpy(&values, block + word * BLOCK_LANES, sizeof values);
        bits |= ((((values & ~BLOCK_SIGNS) + ~BLOCK_SIGNS) | values) & BLOCK_SIGNS) >> word;
    }
    return bits;
}

/// Expands nonzero coefficients to 0x4000. A refinement scan tests whether they are zero, and whether the bit that it
/// adds, of at most 0x2000, is already set, which happens only if libjpeg has had to wait inside the block.
static inline void block_bits_unpack(uint64_t bits, JCOEF *block) {
    for (int word = 0; word < BLOCK_WORDS; word++) {
        uint64_t values = (bits << word & BLOCK_SIGNS) >> 1;
        memcpy(block + word * BLOCK_LANES, &values, sizeof values);
    }
}

#endif
