#include "CResampling.h"

void cresampling_pair_plain(const uint8_t *pixels, int32_t count, int16_t *pairs) {
    for (int32_t x = 0; x < count; x += 2) {
        for (int channel = 0; channel < 4; channel++) {
            *pairs++ = pixels[4 * x + channel];
            *pairs++ = x + 1 < count ? pixels[4 * x + 4 + channel] : 0;
        }
    }
}

void cresampling_filter_plain(const CResamplingColumns *columns, const int16_t *pairs, float *row) {
    for (int32_t x = 0; x < columns->count; x++) {
        const int16_t *pair = pairs + 8 * columns->starts[x];
        int32_t sums[4] = {0, 0, 0, 0};
        for (int32_t tap = columns->offsets[x]; tap < columns->offsets[x + 1]; tap++, pair += 8) {
            const int32_t first = columns->weights[2 * tap], second = columns->weights[2 * tap + 1];
            for (int channel = 0; channel < 4; channel++) {
                sums[channel] += pair[2 * channel] * first + pair[2 * channel + 1] * second;
            }
        }
        for (int channel = 0; channel < 4; channel++) *row++ = (float)sums[channel] * columns->scale;
    }
}

void cresampling_round_plain(const float *sums, uint8_t *pixels, int32_t count) {
    for (int32_t x = 0; x < count; x++, sums += 4) {
        for (int channel = 0; channel < 3; channel++) {
            const float value = sums[channel] + 0.5f;
            *pixels++ = value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
        }
        *pixels++ = 255;
    }
}
