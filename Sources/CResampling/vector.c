#include "CResampling.h"

#if defined(__SSE2__)

#include <immintrin.h>

// Twice as wide as the baseline of this architecture.
#define WIDE __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline))

#pragma STDC FP_CONTRACT OFF

// Checked once, when the library is loaded.
static int has_avx2;

__attribute__((constructor)) static void look(void) {
    __builtin_cpu_init();
    has_avx2 = __builtin_cpu_supports("avx2") != 0;
}

void cresampling_pair(const uint8_t *pixels, int32_t count, int16_t *pairs) {
    const __m128i zero = _mm_setzero_si128();
    int32_t x = 0;
    for (; x + 4 <= count; x += 4, pixels += 16, pairs += 16) {
        const __m128i four = _mm_loadu_si128((const __m128i *)pixels);
        const __m128i neighbors = _mm_shuffle_epi32(four, _MM_SHUFFLE(2, 3, 0, 1));
        const __m128i first = _mm_unpacklo_epi8(four, neighbors), second = _mm_unpackhi_epi8(four, neighbors);
        _mm_storeu_si128((__m128i *)pairs, _mm_unpacklo_epi8(first, zero));
        _mm_storeu_si128((__m128i *)(pairs + 8), _mm_unpacklo_epi8(second, zero));
    }
    cresampling_pair_plain(pixels, count - x, pairs);
}

// MARK: Horizontal

static void filter_narrow(const CResamplingColumns *columns, const int16_t *pairs, float *row) {
    const __m128 scale = _mm_set1_ps(columns->scale);
    const int16_t *weights = columns->weights;
    for (int32_t x = 0; x < columns->count; x++, row += 4) {
        const int16_t *pair = pairs + 8 * (int64_t)columns->starts[x];
        __m128i sum = _mm_setzero_si128();
        for (int32_t left = columns->pairs; left > 0; left -= 2, pair += 16, weights += 4) {
            const __m128i four = _mm_loadl_epi64((const __m128i *)weights);
            const __m128i first = _mm_loadu_si128((const __m128i *)pair);
            const __m128i second = _mm_loadu_si128((const __m128i *)(pair + 8));
            sum = _mm_add_epi32(sum, _mm_madd_epi16(first, _mm_shuffle_epi32(four, _MM_SHUFFLE(0, 0, 0, 0))));
            sum = _mm_add_epi32(sum, _mm_madd_epi16(second, _mm_shuffle_epi32(four, _MM_SHUFFLE(1, 1, 1, 1))));
        }
        _mm_storeu_ps(row, _mm_mul_ps(_mm_cvtepi32_ps(sum), scale));
    }
}

// Two pairs at a time; the sum of integers does not depend on their order. `half` is half the number of pairs; there
// is no loop if it is known at compile time.
WIDE INLINE void filter_by(
    int32_t half, const CResamplingColumns *columns, const int16_t *pairs, float *row) {
    const __m128 scale = _mm_set1_ps(columns->scale);
    const __m256i spread = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    const int16_t *weights = columns->weights;
    for (int32_t x = 0; x < columns->count; x++, row += 4) {
        const int16_t *pair = pairs + 8 * (int64_t)columns->starts[x];
        __m256i sums = _mm256_setzero_si256();
        for (int32_t i = 0; i < half; i++, pair += 16, weights += 4) {
            const __m128i four = _mm_loadl_epi64((const __m128i *)weights);
            const __m256i each = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(four), spread);
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)pair), each));
        }
        const __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        _mm_storeu_ps(row, _mm_mul_ps(_mm_cvtepi32_ps(sum), scale));
    }
}

WIDE static void filter_wide(const CResamplingColumns *columns, const int16_t *pairs, float *row) {
    // The lengths that result from the scales of JPEG.
    switch (columns->pairs) {
    case 2: filter_by(1, columns, pairs, row); break;
    case 4: filter_by(2, columns, pairs, row); break;
    case 6: filter_by(3, columns, pairs, row); break;
    case 8: filter_by(4, columns, pairs, row); break;
    case 10: filter_by(5, columns, pairs, row); break;
    case 12: filter_by(6, columns, pairs, row); break;
    case 14: filter_by(7, columns, pairs, row); break;
    default: filter_by(columns->pairs / 2, columns, pairs, row); break;
    }
}

void cresampling_filter(const CResamplingColumns *columns, const int16_t *pairs, float *row) {
    if (has_avx2) {
        filter_wide(columns, pairs, row);
    } else {
        filter_narrow(columns, pairs, row);
    }
}

// MARK: Vertical

// One pixel of all rows.
INLINE __m128 blend_pixel(const CResamplingRows *rows, int32_t i) {
    __m128 sum = _mm_setzero_ps();
    for (int32_t row = 0; row < rows->row_count; row++) {
        const __m128 weight = _mm_set1_ps(rows->weights[row]);
        sum = _mm_add_ps(sum, _mm_mul_ps(_mm_loadu_ps(rows->rows[row] + i), weight));
    }
    return sum;
}

// Eight pixels of all rows, multiplied, then added.
WIDE INLINE void blend_eight(const CResamplingRows *rows, int32_t i, __m256 sums[4]) {
    __m256 first = _mm256_setzero_ps(), second = first, third = first, fourth = first;
    for (int32_t row = 0; row < rows->row_count; row++) {
        const float *numbers = rows->rows[row] + i;
        const __m256 weight = _mm256_set1_ps(rows->weights[row]);
        first = _mm256_add_ps(first, _mm256_mul_ps(_mm256_loadu_ps(numbers), weight));
        second = _mm256_add_ps(second, _mm256_mul_ps(_mm256_loadu_ps(numbers + 8), weight));
        third = _mm256_add_ps(third, _mm256_mul_ps(_mm256_loadu_ps(numbers + 16), weight));
        fourth = _mm256_add_ps(fourth, _mm256_mul_ps(_mm256_loadu_ps(numbers + 24), weight));
    }
    sums[0] = first;
    sums[1] = second;
    sums[2] = third;
    sums[3] = fourth;
}

WIDE static int32_t blend_wide(const CResamplingRows *rows, float *result) {
    int32_t i = 0;
    for (; i + 32 <= rows->count; i += 32) {
        __m256 sums[4];
        blend_eight(rows, i, sums);
        for (int k = 0; k < 4; k++) _mm256_storeu_ps(result + i + 8 * k, sums[k]);
    }
    return i;
}

void cresampling_blend(const CResamplingRows *rows, float *sums) {
    for (int32_t i = has_avx2 ? blend_wide(rows, sums) : 0; i < rows->count; i += 4) {
        _mm_storeu_ps(sums + i, blend_pixel(rows, i));
    }
}

// Values outside the range of bytes are clamped when they are narrowed.
WIDE static int32_t blend_opaque_wide(const CResamplingRows *rows, uint8_t *pixels) {
    const __m256 half = _mm256_set1_ps(0.5f);
    const __m256i opaque = _mm256_set1_epi32((int32_t)0xFF000000u);
    // Packing operates on each half of a vector.
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    int32_t i = 0;
    for (; i + 32 <= rows->count; i += 32) {
        __m256 sums[4];
        __m256i whole[4];
        blend_eight(rows, i, sums);
        for (int k = 0; k < 4; k++) whole[k] = _mm256_cvttps_epi32(_mm256_add_ps(sums[k], half));
        const __m256i first = _mm256_packs_epi32(whole[0], whole[1]), second = _mm256_packs_epi32(whole[2], whole[3]);
        const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(first, second), order);
        _mm256_storeu_si256((__m256i *)(pixels + i), _mm256_or_si256(bytes, opaque));
    }
    return i;
}

void cresampling_blend_opaque(const CResamplingRows *rows, uint8_t *pixels) {
    for (int32_t i = has_avx2 ? blend_opaque_wide(rows, pixels) : 0; i < rows->count; i += 4) {
        const __m128i whole = _mm_cvttps_epi32(_mm_add_ps(blend_pixel(rows, i), _mm_set1_ps(0.5f)));
        const __m128i words = _mm_packs_epi32(whole, whole);
        const int32_t pixel = _mm_cvtsi128_si32(_mm_packus_epi16(words, words)) | (int32_t)0xFF000000u;
        __builtin_memcpy(pixels + i, &pixel, sizeof pixel);
    }
}

#else

void cresampling_pair(const uint8_t *pixels, int32_t count, int16_t *pairs) {
    cresampling_pair_plain(pixels, count, pairs);
}

void cresampling_filter(const CResamplingColumns *columns, const int16_t *pairs, float *row) {
    cresampling_filter_plain(columns, pairs, row);
}

void cresampling_blend(const CResamplingRows *rows, float *sums) { cresampling_blend_plain(rows, sums); }

void cresampling_blend_opaque(const CResamplingRows *rows, uint8_t *pixels) {
    cresampling_blend_opaque_plain(rows, pixels);
}

#endif
