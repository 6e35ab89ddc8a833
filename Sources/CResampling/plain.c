#include "CResampling.h"

#include "planes.h"

// A fused multiply-add would round differently than the vector versions.
#pragma STDC FP_CONTRACT OFF

void cresampling_filter_plain(const CResamplingColumns *columns, const uint8_t *pixels, float *row) {
    const int16_t *weights = columns->weights;
    for (int32_t x = 0; x < columns->count; x++) {
        const uint8_t *pixel = pixels + 4 * (int64_t)columns->starts[x];
        int32_t sums[4] = {0, 0, 0, 0};
        for (int32_t tap = 0; tap < columns->length; tap++, pixel += 4, weights++) {
            for (int channel = 0; channel < 4; channel++) sums[channel] += pixel[channel] * *weights;
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

void cresampling_filter_plane_plain(const CResamplingColumns *columns, const uint8_t *samples, float *row) {
    const int16_t *weights = columns->weights;
    for (int32_t x = 0; x < columns->count; x++) {
        const uint8_t *sample = samples + columns->starts[x];
        int32_t sum = 0;
        for (int32_t tap = 0; tap < columns->length; tap++) sum += *sample++ * *weights++;
        row[x] = (float)sum * columns->scale;
    }
}

static uint8_t byte(float value) {
    value += 0.5f;
    return value > 255 ? 255 : value < 0 ? 0 : (uint8_t)value;
}

void cresampling_join_planes_plain(const CResamplingPlanes *planes, uint8_t *pixels) {
    for (int32_t i = 0; i < planes->count; i++, pixels += 4) {
        const float luma = (planes->luma[i] - 16) * LUMA_FACTOR;
        const float blue = planes->blue[i] - 128, red = planes->red[i] - 128;
        pixels[0] = byte(luma + red * RED_FROM_RED);
        pixels[1] = byte(luma - blue * GREEN_FROM_BLUE - red * GREEN_FROM_RED);
        pixels[2] = byte(luma + blue * BLUE_FROM_BLUE);
        pixels[3] = 255;
    }
}
