#include "CResampling.h"

// A fused multiply-add would round differently than the vector versions.
#pragma STDC FP_CONTRACT OFF

enum { taps = CRESAMPLING_SPREAD_TAPS };

void cresampling_spread_plain(const CResamplingSpread *spread, const float *row, float *result) {
    const int64_t tap_weights = 4 * (int64_t)spread->step;
    for (int32_t x = 0; x < spread->count; x++, result += 4) {
        const float *source = row + 4 * (int64_t)(x / spread->step);
        const float *weights = spread->weights + 4 * (int64_t)(x % spread->step);
        for (int channel = 0; channel < 4; channel++) {
            float sum = 0;
            for (int tap = 0; tap < taps; tap++) {
                sum += source[4 * tap + channel] * weights[tap * tap_weights + channel];
            }
            result[channel] = sum;
        }
    }
}

void cresampling_round_plain(const float *row, int32_t count, uint8_t *pixels) {
    for (int64_t i = 0; i < 4 * (int64_t)count; i++) {
        const float value = row[i] + 0.5f;
        pixels[i] = value > 255 ? 255 : value < 0 ? 0 : (uint8_t)value;
    }
}

#if defined(__SSE2__)

#include <immintrin.h>

#include "vector.h"

INLINE void spread_pixel(const __m128 low[taps], const float *weights, int64_t tap_weights, float *result) {
    __m128 sum = _mm_mul_ps(low[0], _mm_loadu_ps(weights));
    for (int tap = 1; tap < taps; tap++) {
        sum = _mm_add_ps(sum, _mm_mul_ps(low[tap], _mm_loadu_ps(weights + tap * tap_weights)));
    }
    _mm_storeu_ps(result, sum);
}

static void spread_narrow(const CResamplingSpread *spread, const float *row, float *result) {
    const int64_t tap_weights = 4 * (int64_t)spread->step;
    for (int32_t left = spread->count; left > 0; left -= spread->step, row += 4) {
        const int32_t width = left < spread->step ? left : spread->step;
        __m128 low[taps];
        for (int tap = 0; tap < taps; tap++) low[tap] = _mm_loadu_ps(row + 4 * tap);
        for (int32_t x = 0; x < width; x++, result += 4) {
            spread_pixel(low, spread->weights + 4 * (int64_t)x, tap_weights, result);
        }
    }
}

// Two pixels between the same samples at a time.
WIDE static void spread_wide(const CResamplingSpread *spread, const float *row, float *result) {
    const int64_t tap_weights = 4 * (int64_t)spread->step;
    for (int32_t left = spread->count; left > 0; left -= spread->step, row += 4) {
        const int32_t width = left < spread->step ? left : spread->step;
        __m256 low[taps];
        for (int tap = 0; tap < taps; tap++) low[tap] = _mm256_broadcast_ps((const __m128 *)(row + 4 * tap));
        int32_t x = 0;
        for (; x + 2 <= width; x += 2, result += 8) {
            const float *weights = spread->weights + 4 * (int64_t)x;
            __m256 sum = _mm256_mul_ps(low[0], _mm256_loadu_ps(weights));
            for (int tap = 1; tap < taps; tap++) {
                sum = _mm256_add_ps(sum, _mm256_mul_ps(low[tap], _mm256_loadu_ps(weights + tap * tap_weights)));
            }
            _mm256_storeu_ps(result, sum);
        }
        if (x < width) {
            const float *weights = spread->weights + 4 * (int64_t)x;
            __m128 sum = _mm_mul_ps(_mm256_castps256_ps128(low[0]), _mm_loadu_ps(weights));
            for (int tap = 1; tap < taps; tap++) {
                const __m128 weight = _mm_loadu_ps(weights + tap * tap_weights);
                sum = _mm_add_ps(sum, _mm_mul_ps(_mm256_castps256_ps128(low[tap]), weight));
            }
            _mm_storeu_ps(result, sum);
            result += 4;
        }
    }
}

void cresampling_spread(const CResamplingSpread *spread, const float *row, float *result) {
    if (cresampling_has_avx2) {
        spread_wide(spread, row, result);
    } else {
        spread_narrow(spread, row, result);
    }
}

// Values outside the range of bytes are clamped when they are narrowed.
void cresampling_round(const float *row, int32_t count, uint8_t *pixels) {
    const __m128 half = _mm_set1_ps(0.5f);
    int32_t x = 0;
    for (; x + 4 <= count; x += 4, row += 16, pixels += 16) {
        __m128i whole[4];
        for (int k = 0; k < 4; k++) whole[k] = _mm_cvttps_epi32(_mm_add_ps(_mm_loadu_ps(row + 4 * k), half));
        const __m128i first = _mm_packs_epi32(whole[0], whole[1]), second = _mm_packs_epi32(whole[2], whole[3]);
        _mm_storeu_si128((__m128i *)pixels, _mm_packus_epi16(first, second));
    }
    cresampling_round_plain(row, count - x, pixels);
}

#else

void cresampling_spread(const CResamplingSpread *spread, const float *row, float *result) {
    cresampling_spread_plain(spread, row, result);
}

void cresampling_round(const float *row, int32_t count, uint8_t *pixels) {
    cresampling_round_plain(row, count, pixels);
}

#endif
