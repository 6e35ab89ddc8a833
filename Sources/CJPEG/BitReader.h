// The bits of an entropy-coded segment. Not visible to Swift.
#ifndef CJPEG_BIT_READER_H
#define CJPEG_BIT_READER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

/// A copy of the reading position, which the owner keeps in registers while it decodes an MCU.
typedef struct BitReader {
    /// The next bit is the most significant one. Bits after the first `count` are undefined: some of those of the next
    /// bytes, then zeros.
    uint64_t bits;
    /// The number of bits that have been read from bytes; negative if more have been used.
    int count;
    const JOCTET *next;
    /// The end of the received bytes, or of the next marker once that has been read.
    const JOCTET *end;
    j_decompress_ptr info;
} BitReader;

/// The minimum of `count` after bit_reader_refill, unless the bytes end.
enum { BITS_PER_REFILL = 56 };

/// Adds bytes up to the next marker, which becomes libjpeg's unread marker, or to the end of the received bytes.
/// Afterwards, bits that do not exist are zero.
BitReader bit_reader_refill_bytewise(BitReader reader);

static inline int bit_reader_has_ff(uint64_t word) {
    uint64_t inverted = ~word;
    return ((inverted - 0x0101010101010101) & ~inverted & 0x8080808080808080) != 0;
}

/// Reads bytes until `count`, which must be 0 to 63, is BITS_PER_REFILL to 63. It is less only before a marker or the
/// end of the received bytes; then, further bits are zero.
static inline __attribute__((always_inline)) void bit_reader_refill(BitReader *reader) {
    uint64_t word;
    if (reader->end - reader->next >= (ptrdiff_t)sizeof word) {
        memcpy(&word, reader->next, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        if (!bit_reader_has_ff(word)) {
            reader->bits |= word >> reader->count;
            int bytes = (63 - reader->count) / 8;
            reader->next += bytes;
            reader->count += bytes * 8;
            return;
        }
    }
    *reader = bit_reader_refill_bytewise(*reader);
}

/// Returns the next `count` bits, 1 to 32.
static inline __attribute__((always_inline)) uint32_t bit_reader_peek(const BitReader *reader, int count) {
    return (uint32_t)(reader->bits >> (64 - count));
}

/// Removes `count` bits, at most 32.
static inline __attribute__((always_inline)) void bit_reader_drop(BitReader *reader, int count) {
    reader->bits <<= count;
    reader->count -= count;
}

#endif
