#include "CResampling.h"

#include "planes.h"

#if defined(__SSE2__)

#include <immintrin.h>

#include "vector.h"

#pragma STDC FP_CONTRACT OFF

// MARK: Horizontal

// The sums of one target sample, to be added. `sixteens` is a sixteenth of the number of weights.
WIDE INLINE __m256i sample_sums(int32_t sixteens, const uint8_t *sample, const int16_t *weights) {
    __m256i sums = _mm256_setzero_si256();
    for (int32_t i = 0; i < sixteens; i++, sample += 16, weights += 16) {
        const __m256i words = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)sample));
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(words, _mm256_loadu_si256((const __m256i *)weights)));
    }
    return sums;
}

// Eight target samples at a time; the sum of integers does not depend on their order. There is no loop over
// `sixteens` if it is known at compile time.
WIDE INLINE void filter_by(int32_t sixteens, const CResamplingColumns *columns, const uint8_t *samples, float *row) {
    const __m256 scale = _mm256_set1_ps(columns->scale);
    const int16_t *weights = columns->weights;
    const int32_t *start = columns->starts;
    int32_t left = columns->count;
    for (; left >= 8; left -= 8, start += 8, row += 8) {
        __m256i fours[2];
        for (int k = 0; k < 2; k++) {
            __m256i pairs[2];
            for (int j = 0; j < 2; j++, weights += 32 * sixteens) {
                const __m256i first = sample_sums(sixteens, samples + start[4 * k + 2 * j], weights);
                const __m256i second =
                    sample_sums(sixteens, samples + start[4 * k + 2 * j + 1], weights + 16 * sixteens);
                pairs[j] = _mm256_hadd_epi32(first, second);
            }
            fours[k] = _mm256_hadd_epi32(pairs[0], pairs[1]);
        }
        const __m256i sums = _mm256_add_epi32(
            _mm256_permute2x128_si256(fours[0], fours[1], 0x20), _mm256_permute2x128_si256(fours[0], fours[1], 0x31));
        _mm256_storeu_ps(row, _mm256_mul_ps(_mm256_cvtepi32_ps(sums), scale));
    }
    for (; left > 0; left--, start++, row++, weights += 16 * sixteens) {
        const __m256i sums = sample_sums(sixteens, samples + *start, weights);
        __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        sum = _mm_hadd_epi32(sum, sum);
        sum = _mm_hadd_epi32(sum, sum);
        *row = (float)_mm_cvtsi128_si32(sum) * columns->scale;
    }
}

WIDE static void filter_wide(const CResamplingColumns *columns, const uint8_t *samples, float *row) {
    switch (columns->length) {
    case 16: filter_by(1, columns, samples, row); break;
    case 32: filter_by(2, columns, samples, row); break;
    default: filter_by(columns->length / 16, columns, samples, row); break;
    }
}

void cresampling_filter_plane_narrow(const CResamplingColumns *columns, const uint8_t *samples, float *row) {
    const int16_t *weights = columns->weights;
    for (int32_t x = 0; x < columns->count; x++) {
        const uint8_t *sample = samples + columns->starts[x];
        __m128i sums = _mm_setzero_si128();
        for (int32_t left = columns->length; left > 0; left -= 8, sample += 8, weights += 8) {
            const __m128i bytes = _mm_loadl_epi64((const __m128i *)sample);
            const __m128i words = _mm_unpacklo_epi8(bytes, _mm_setzero_si128());
            sums = _mm_add_epi32(sums, _mm_madd_epi16(words, _mm_loadu_si128((const __m128i *)weights)));
        }
        sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, _MM_SHUFFLE(1, 0, 3, 2)));
        sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, _MM_SHUFFLE(2, 3, 0, 1)));
        row[x] = (float)_mm_cvtsi128_si32(sums) * columns->scale;
    }
}

void cresampling_filter_plane(const CResamplingColumns *columns, const uint8_t *samples, float *row) {
    if (cresampling_has_avx2) {
        filter_wide(columns, samples, row);
    } else {
        cresampling_filter_plane_narrow(columns, samples, row);
    }
}

// MARK: Color

INLINE __m128i bytes_of(__m128 values) {
    values = _mm_add_ps(values, _mm_set1_ps(0.5f));
    return _mm_cvttps_epi32(_mm_min_ps(_mm_max_ps(values, _mm_setzero_ps()), _mm_set1_ps(255)));
}

void cresampling_join_planes(const CResamplingPlanes *planes, uint8_t *pixels) {
    int32_t i = 0;
    for (; i + 4 <= planes->count; i += 4) {
        const __m128 luma =
            _mm_mul_ps(_mm_sub_ps(_mm_loadu_ps(planes->luma + i), _mm_set1_ps(16)), _mm_set1_ps(LUMA_FACTOR));
        const __m128 blue = _mm_sub_ps(_mm_loadu_ps(planes->blue + i), _mm_set1_ps(128));
        const __m128 red = _mm_sub_ps(_mm_loadu_ps(planes->red + i), _mm_set1_ps(128));
        const __m128i r = bytes_of(_mm_add_ps(luma, _mm_mul_ps(red, _mm_set1_ps(RED_FROM_RED))));
        const __m128i g = bytes_of(_mm_sub_ps(
            _mm_sub_ps(luma, _mm_mul_ps(blue, _mm_set1_ps(GREEN_FROM_BLUE))),
            _mm_mul_ps(red, _mm_set1_ps(GREEN_FROM_RED))));
        const __m128i b = bytes_of(_mm_add_ps(luma, _mm_mul_ps(blue, _mm_set1_ps(BLUE_FROM_BLUE))));
        const __m128i color = _mm_or_si128(r, _mm_or_si128(_mm_slli_epi32(g, 8), _mm_slli_epi32(b, 16)));
        _mm_storeu_si128(
            (__m128i *)(pixels + 4 * (int64_t)i), _mm_or_si128(color, _mm_set1_epi32((int32_t)0xFF000000u)));
    }
    const CResamplingPlanes rest = {planes->luma + i, planes->blue + i, planes->red + i, planes->count - i};
    cresampling_join_planes_plain(&rest, pixels + 4 * (int64_t)i);
}

#else

void cresampling_filter_plane_narrow(const CResamplingColumns *columns, const uint8_t *samples, float *row) {
    cresampling_filter_plane_plain(columns, samples, row);
}

void cresampling_filter_plane(const CResamplingColumns *columns, const uint8_t *samples, float *row) {
    cresampling_filter_plane_plain(columns, samples, row);
}

void cresampling_join_planes(const CResamplingPlanes *planes, uint8_t *pixels) {
    cresampling_join_planes_plain(planes, pixels);
}

#endif
