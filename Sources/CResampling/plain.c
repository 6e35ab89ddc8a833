#include "CResampling.h"

// A fused multiply-add would round differently than the vector versions.
#pragma STDC FP_CONTRACT OFF

void cresampling_pair_plain(const uint8_t *pixels, int32_t count, int16_t *pairs) {
    for (int32_t x = 0; x < count; x += 2) {
        for (int channel = 0; channel < 4; channel++) {
            *pairs++ = pixels[4 * x + channel];
            *pairs++ = x + 1 < count ? pixels[4 * x + 4 + channel] : 0;
        }
    }
}

void cresampling_filter_plain(const CResamplingColumns *columns, const int16_t *pairs, float *row) {
    const int16_t *weights = columns->weights;
    for (int32_t x = 0; x < columns->count; x++) {
        const int16_t *pair = pairs + 8 * (int64_t)columns->starts[x];
        int32_t sums[4] = {0, 0, 0, 0};
        for (int32_t tap = 0; tap < columns->pairs; tap++, pair += 8, weights += 2) {
            for (int channel = 0; channel < 4; channel++) {
                sums[channel] += pair[2 * channel] * weights[0] + pair[2 * channel + 1] * weights[1];
            }
        }
        for (int channel = 0; channel < 4; channel++) *row++ = (float)sums[channel] * columns->scale;
    }
}

static float blend(const CResamplingRows *rows, int32_t i) {
    float sum = 0;
    for (int32_t row = 0; row < rows->row_count; row++) sum += rows->rows[row][i] * rows->weights[row];
    return sum;
}

void cresampling_blend_plain(const CResamplingRows *rows, float *sums) {
    for (int32_t i = 0; i < rows->count; i++) sums[i] = blend(rows, i);
}

void cresampling_blend_opaque_plain(const CResamplingRows *rows, uint8_t *pixels) {
    for (int32_t i = 0; i < rows->count; i++) {
        const float value = blend(rows, i) + 0.5f;
        pixels[i] = i % 4 == 3 || value > 255 ? 255 : value < 0 ? 0 : (uint8_t)value;
    }
}
