#include "CChecksum.h"

#include <string.h>

// Of CRC-32C, with its bits reversed.
#define POLYNOMIAL 0x82F63B78u

// The checksums of a byte followed by 0 to 7 zero bytes.
static uint32_t table[8][256];
static int has_instruction;

// The instruction takes three cycles, but one can start in each, so three parts of this length are read at once.
#define PART 512
// By position and value of a byte: a checksum with this byte and zeros elsewhere, after PART further zero bytes.
static uint32_t shifted[4][256];

static uint32_t shift(uint32_t crc) {
    return shifted[0][crc & 0xFF] ^ shifted[1][crc >> 8 & 0xFF] ^ shifted[2][crc >> 16 & 0xFF] ^ shifted[3][crc >> 24];
}

__attribute__((constructor)) static void prepare(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        table[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (int zeros = 1; zeros < 8; zeros++) {
            const uint32_t crc = table[zeros - 1][byte];
            table[zeros][byte] = crc >> 8 ^ table[0][crc & 0xFF];
        }
    }
    uint32_t bits[32];
    for (int bit = 0; bit < 32; bit++) {
        bits[bit] = 1u << bit;
        for (int zeros = 0; zeros < PART; zeros++) bits[bit] = bits[bit] >> 8 ^ table[0][bits[bit] & 0xFF];
    }
    for (int position = 0; position < 4; position++) {
        for (int byte = 0; byte < 256; byte++) {
            for (int bit = 0; bit < 8; bit++) {
                if (byte >> bit & 1) shifted[position][byte] ^= bits[8 * position + bit];
            }
        }
    }
#if defined(__x86_64__)
    __builtin_cpu_init();
    has_instruction = __builtin_cpu_supports("sse4.2") != 0;
#elif defined(__ARM_FEATURE_CRC32)
    has_instruction = 1;
#endif
}

uint32_t cchecksum_crc32c_plain(uint32_t crc, const uint8_t *bytes, size_t count) {
    crc = ~crc;
    for (; count >= 8; bytes += 8, count -= 8) {
        const uint32_t first =
            crc ^ ((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24);
        crc = table[7][first & 0xFF] ^ table[6][first >> 8 & 0xFF] ^ table[5][first >> 16 & 0xFF] ^ table[4][first >> 24]
            ^ table[3][bytes[4]] ^ table[2][bytes[5]] ^ table[1][bytes[6]] ^ table[0][bytes[7]];
    }
    while (count-- > 0) crc = crc >> 8 ^ table[0][(crc ^ *bytes++) & 0xFF];
    return ~crc;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

#define TARGET __attribute__((target("sse4.2")))
#define ADD_WORD(sum, word) ((uint32_t)_mm_crc32_u64(sum, word))
#define ADD_BYTE(sum, byte) _mm_crc32_u8(sum, byte)

#elif defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

#define TARGET
#define ADD_WORD(sum, word) __crc32cd(sum, word)
#define ADD_BYTE(sum, byte) __crc32cb(sum, byte)

#endif

#if defined(ADD_WORD)

static uint64_t word_at(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    return word;
}

TARGET static uint32_t by_instruction(uint32_t crc, const uint8_t *bytes, size_t count) {
    uint32_t sum = ~crc;
    for (; count >= 3 * PART; bytes += 3 * PART, count -= 3 * PART) {
        uint32_t second = 0, third = 0;
        for (size_t index = 0; index < PART; index += 8) {
            sum = ADD_WORD(sum, word_at(bytes + index));
            second = ADD_WORD(second, word_at(bytes + PART + index));
            third = ADD_WORD(third, word_at(bytes + 2 * PART + index));
        }
        sum = shift(shift(sum) ^ second) ^ third;
    }
    for (; count >= 8; bytes += 8, count -= 8) sum = ADD_WORD(sum, word_at(bytes));
    while (count-- > 0) sum = ADD_BYTE(sum, *bytes++);
    return ~sum;
}

#else

static uint32_t by_instruction(uint32_t crc, const uint8_t *bytes, size_t count) {
    return cchecksum_crc32c_plain(crc, bytes, count);
}

#endif

uint32_t cchecksum_crc32c(uint32_t crc, const uint8_t *bytes, size_t count) {
    return has_instruction ? by_instruction(crc, bytes, count) : cchecksum_crc32c_plain(crc, bytes, count);
}
