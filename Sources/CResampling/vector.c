#include "CResampling.h"

#if defined(__SSE2__)

#include <immintrin.h>

#define WIDE __attribute__((target("avx2")))

// Asked once, when the library is loaded.
static int has_avx2;

__attribute__((constructor)) static void look(void) {
    __builtin_cpu_init();
    has_avx2 = __builtin_cpu_supports("avx2") != 0;
}

int cresampling_is_wide(void) { return has_avx2; }

void cresampling_pair(const uint8_t *pixels, int32_t count, int16_t *pairs) {
    const __m128i zero = _mm_setzero_si128();
    int32_t x = 0;
    for (; x + 4 <= count; x += 4, pixels += 16, pairs += 16) {
        const __m128i four = _mm_loadu_si128((const __m128i *)pixels);
        const __m128i neighbours = _mm_shuffle_epi32(four, _MM_SHUFFLE(2, 3, 0, 1));
        const __m128i first = _mm_unpacklo_epi8(four, neighbours), second = _mm_unpackhi_epi8(four, neighbours);
        _mm_storeu_si128((__m128i *)pairs, _mm_unpacklo_epi8(first, zero));
        _mm_storeu_si128((__m128i *)(pairs + 8), _mm_unpacklo_epi8(second, zero));
    }
    cresampling_pair_plain(pixels, count - x, pairs);
}

// Two 16-bit weights, in every lane.
static inline __m128i load_weights(const int16_t *weights) {
    int32_t both;
    __builtin_memcpy(&both, weights, sizeof both);
    return _mm_set1_epi32(both);
}

static inline __m128i add_pairs(__m128i sum, const int16_t *pair, const int16_t *weights, int32_t count) {
    for (; count > 0; count--, pair += 8, weights += 2) {
        sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_loadu_si128((const __m128i *)pair), load_weights(weights)));
    }
    return sum;
}

static void filter_narrow(const CResamplingColumns *columns, const int16_t *pairs, float *row) {
    const __m128 scale = _mm_set1_ps(columns->scale);
    for (int32_t x = 0; x < columns->count; x++, row += 4) {
        const int32_t offset = columns->offsets[x];
        const __m128i sum = add_pairs(
            _mm_setzero_si128(), pairs + 8 * columns->starts[x], columns->weights + 2 * offset,
            columns->offsets[x + 1] - offset);
        _mm_storeu_ps(row, _mm_mul_ps(_mm_cvtepi32_ps(sum), scale));
    }
}

// Two pairs at a time; whole numbers add up to the same in any order.
WIDE static void filter_wide(const CResamplingColumns *columns, const int16_t *pairs, float *row) {
    const __m128 scale = _mm_set1_ps(columns->scale);
    const __m256i spread = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    for (int32_t x = 0; x < columns->count; x++, row += 4) {
        int32_t left = columns->offsets[x + 1] - columns->offsets[x];
        const int16_t *pair = pairs + 8 * columns->starts[x], *weights = columns->weights + 2 * columns->offsets[x];
        __m256i sums = _mm256_setzero_si256();
        for (; left >= 2; left -= 2, pair += 16, weights += 4) {
            const __m128i four = _mm_loadl_epi64((const __m128i *)weights);
            const __m256i each = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(four), spread);
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)pair), each));
        }
        __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        if (left > 0) {
            sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_loadu_si128((const __m128i *)pair), load_weights(weights)));
        }
        _mm_storeu_ps(row, _mm_mul_ps(_mm_cvtepi32_ps(sum), scale));
    }
}

void cresampling_filter(const CResamplingColumns *columns, const int16_t *pairs, float *row) {
    if (has_avx2) {
        filter_wide(columns, pairs, row);
    } else {
        filter_narrow(columns, pairs, row);
    }
}

// Multiplied, then added: one instruction for both would round otherwise than other processors do.
WIDE static void add_wide(const float *row, float weight, float *sums, int32_t count) {
    const __m256 factor = _mm256_set1_ps(weight);
    int32_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256 product = _mm256_mul_ps(_mm256_loadu_ps(row + i), factor);
        _mm256_storeu_ps(sums + i, _mm256_add_ps(_mm256_loadu_ps(sums + i), product));
    }
    for (; i < count; i += 4) {
        const __m128 product = _mm_mul_ps(_mm_loadu_ps(row + i), _mm256_castps256_ps128(factor));
        _mm_storeu_ps(sums + i, _mm_add_ps(_mm_loadu_ps(sums + i), product));
    }
}

void cresampling_add(const float *row, float weight, float *sums, int32_t count) {
    if (has_avx2) {
        add_wide(row, weight, sums, count);
        return;
    }
    const __m128 factor = _mm_set1_ps(weight);
    for (int32_t i = 0; i < count; i += 4) {
        const __m128 product = _mm_mul_ps(_mm_loadu_ps(row + i), factor);
        _mm_storeu_ps(sums + i, _mm_add_ps(_mm_loadu_ps(sums + i), product));
    }
}

// What is outside of a byte is cut off where the numbers are narrowed.
static inline __m128i whole(const float *sums) {
    return _mm_cvttps_epi32(_mm_add_ps(_mm_loadu_ps(sums), _mm_set1_ps(0.5f)));
}

void cresampling_round(const float *sums, uint8_t *pixels, int32_t count) {
    const __m128i opaque = _mm_set1_epi32((int32_t)0xFF000000u);
    int32_t x = 0;
    for (; x + 4 <= count; x += 4, sums += 16, pixels += 16) {
        const __m128i first = _mm_packs_epi32(whole(sums), whole(sums + 4));
        const __m128i second = _mm_packs_epi32(whole(sums + 8), whole(sums + 12));
        _mm_storeu_si128((__m128i *)pixels, _mm_or_si128(_mm_packus_epi16(first, second), opaque));
    }
    cresampling_round_plain(sums, pixels, count - x);
}

#else

int cresampling_is_wide(void) { return 0; }

void cresampling_pair(const uint8_t *pixels, int32_t count, int16_t *pairs) {
    cresampling_pair_plain(pixels, count, pairs);
}

void cresampling_filter(const CResamplingColumns *columns, const int16_t *pairs, float *row) {
    cresampling_filter_plain(columns, pairs, row);
}

void cresampling_add(const float *row, float weight, float *sums, int32_t count) {
#pragma STDC FP_CONTRACT OFF
    for (int32_t i = 0; i < count; i++) sums[i] += row[i] * weight;
}

void cresampling_round(const float *sums, uint8_t *pixels, int32_t count) {
    cresampling_round_plain(sums, pixels, count);
}

#endif
