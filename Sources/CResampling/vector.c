#include "CResampling.h"

#if defined(__SSE2__)

#include <immintrin.h>

#include "vector.h"

#pragma STDC FP_CONTRACT OFF

int cresampling_has_avx2;

__attribute__((constructor)) static void look(void) {
    __builtin_cpu_init();
    cresampling_has_avx2 = __builtin_cpu_supports("avx2") != 0;
}

// MARK: Horizontal

// Pairs of pixels: r0 r1 g0 g1 b0 b1 a0 a1.
INLINE __m128i pairs_narrow(__m128i first, __m128i second) {
    return _mm_unpacklo_epi8(_mm_unpacklo_epi8(first, second), _mm_setzero_si128());
}

void cresampling_filter_narrow(const CResamplingColumns *columns, const uint8_t *pixels, float *row) {
    const __m128 scale = _mm_set1_ps(columns->scale);
    const int16_t *weights = columns->weights;
    for (int32_t x = 0; x < columns->count; x++, row += 4) {
        const uint8_t *pixel = pixels + 4 * (int64_t)columns->starts[x];
        __m128i sum = _mm_setzero_si128();
        for (int32_t left = columns->length; left > 0; left -= 4, pixel += 16, weights += 4) {
            const __m128i four = _mm_loadl_epi64((const __m128i *)weights);
            const __m128i bytes = _mm_loadu_si128((const __m128i *)pixel);
            const __m128i first = pairs_narrow(bytes, _mm_srli_si128(bytes, 4));
            const __m128i second = pairs_narrow(_mm_srli_si128(bytes, 8), _mm_srli_si128(bytes, 12));
            sum = _mm_add_epi32(sum, _mm_madd_epi16(first, _mm_shuffle_epi32(four, _MM_SHUFFLE(0, 0, 0, 0))));
            sum = _mm_add_epi32(sum, _mm_madd_epi16(second, _mm_shuffle_epi32(four, _MM_SHUFFLE(1, 1, 1, 1))));
        }
        _mm_storeu_ps(row, _mm_mul_ps(_mm_cvtepi32_ps(sum), scale));
    }
}

// The sums of the first two of each four pixels, then those of the last two.
WIDE INLINE __m256i half_sums(int32_t fours, const uint8_t *pixel, const int16_t *weights) {
    // Each half contains the same four pixels, or weights, before it is shuffled.
    const __m256i pairs = _mm256_setr_epi8(
        0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1,
        8, -1, 12, -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1);
    const __m256i repeated = _mm256_setr_epi8(
        0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
        4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7);
    __m256i sums = _mm256_setzero_si256();
    for (int32_t i = 0; i < fours; i++, pixel += 16, weights += 4) {
        int64_t four;
        __builtin_memcpy(&four, weights, sizeof four);
        const __m256i bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)pixel));
        __m256i factors = _mm256_set1_epi64x(four);
        // Otherwise, clang replaces a load that repeats and one shuffle by two shuffles.
        __asm__("" : "+x"(factors));
        factors = _mm256_shuffle_epi8(factors, repeated);
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_shuffle_epi8(bytes, pairs), factors));
    }
    return sums;
}

// Two target pixels at a time; the sum of integers does not depend on their order. `fours` is a quarter of the number
// of weights; there is no loop over them if it is known at compile time.
WIDE INLINE void filter_by(int32_t fours, const CResamplingColumns *columns, const uint8_t *pixels, float *row) {
    const __m256 scale = _mm256_set1_ps(columns->scale);
    const int16_t *weights = columns->weights;
    const int32_t *start = columns->starts;
    int32_t left = columns->count;
    for (; left >= 2; left -= 2, start += 2, weights += 8 * fours, row += 8) {
        const __m256i first = half_sums(fours, pixels + 4 * (int64_t)start[0], weights);
        const __m256i second = half_sums(fours, pixels + 4 * (int64_t)start[1], weights + 4 * fours);
        const __m256i sums = _mm256_add_epi32(
            _mm256_permute2x128_si256(first, second, 0x20), _mm256_permute2x128_si256(first, second, 0x31));
        _mm256_storeu_ps(row, _mm256_mul_ps(_mm256_cvtepi32_ps(sums), scale));
    }
    if (left > 0) {
        const __m256i sums = half_sums(fours, pixels + 4 * (int64_t)start[0], weights);
        const __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        _mm_storeu_ps(row, _mm_mul_ps(_mm_cvtepi32_ps(sum), _mm256_castps256_ps128(scale)));
    }
}

WIDE static void filter_wide(const CResamplingColumns *columns, const uint8_t *pixels, float *row) {
    // The lengths that result from the scales of JPEG.
    switch (columns->length) {
    case 4: filter_by(1, columns, pixels, row); break;
    case 8: filter_by(2, columns, pixels, row); break;
    case 12: filter_by(3, columns, pixels, row); break;
    case 16: filter_by(4, columns, pixels, row); break;
    case 20: filter_by(5, columns, pixels, row); break;
    case 24: filter_by(6, columns, pixels, row); break;
    default: filter_by(columns->length / 4, columns, pixels, row); break;
    }
}

void cresampling_filter(const CResamplingColumns *columns, const uint8_t *pixels, float *row) {
    if (cresampling_has_avx2) {
        filter_wide(columns, pixels, row);
    } else {
        cresampling_filter_narrow(columns, pixels, row);
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
    for (int32_t i = cresampling_has_avx2 ? blend_wide(rows, sums) : 0; i < rows->count; i += 4) {
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
    for (int32_t i = cresampling_has_avx2 ? blend_opaque_wide(rows, pixels) : 0; i < rows->count; i += 4) {
        const __m128i whole = _mm_cvttps_epi32(_mm_add_ps(blend_pixel(rows, i), _mm_set1_ps(0.5f)));
        const __m128i words = _mm_packs_epi32(whole, whole);
        const int32_t pixel = _mm_cvtsi128_si32(_mm_packus_epi16(words, words)) | (int32_t)0xFF000000u;
        __builtin_memcpy(pixels + i, &pixel, sizeof pixel);
    }
}

#else

void cresampling_filter_narrow(const CResamplingColumns *columns, const uint8_t *pixels, float *row) {
    cresampling_filter_plain(columns, pixels, row);
}

void cresampling_filter(const CResamplingColumns *columns, const uint8_t *pixels, float *row) {
    cresampling_filter_plain(columns, pixels, row);
}

void cresampling_blend(const CResamplingRows *rows, float *sums) { cresampling_blend_plain(rows, sums); }

void cresampling_blend_opaque(const CResamplingRows *rows, uint8_t *pixels) {
    cresampling_blend_opaque_plain(rows, pixels);
}

#endif
