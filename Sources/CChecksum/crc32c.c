#include "CChecksum.h"

#include <string.h>

// Of CRC-32C, with its bits reversed.
#define POLYNOMIAL 0x82F63B78u

// The checksums of a byte followed by 0 to 7 zero bytes.
static uint32_t table[8][256];
static int has_instruction;

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

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *bytes, size_t count) {
    uint64_t sum = (uint32_t)~crc;
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        sum = _mm_crc32_u64(sum, word);
    }
    uint32_t rest = (uint32_t)sum;
    while (count-- > 0) rest = _mm_crc32_u8(rest, *bytes++);
    return ~rest;
}

#elif defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

static uint32_t by_instruction(uint32_t crc, const uint8_t *bytes, size_t count) {
    crc = ~crc;
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        crc = __crc32cd(crc, word);
    }
    while (count-- > 0) crc = __crc32cb(crc, *bytes++);
    return ~crc;
}

#else

static uint32_t by_instruction(uint32_t crc, const uint8_t *bytes, size_t count) {
    return cchecksum_crc32c_plain(crc, bytes, count);
}

#endif

uint32_t cchecksum_crc32c(uint32_t crc, const uint8_t *bytes, size_t count) {
    return has_instruction ? by_instruction(crc, bytes, count) : cchecksum_crc32c_plain(crc, bytes, count);
}
