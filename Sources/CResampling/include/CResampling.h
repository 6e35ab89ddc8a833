// The innermost loops of the resampler, in vector instructions that Swift cannot name. The vector and the plain forms
// give the same bits.
#ifndef CRESAMPLING_H
#define CRESAMPLING_H

#include <stdint.h>

/// How a row of pixels is filtered along itself, in fixed point. Source pixels are taken two at a time.
typedef struct CResamplingColumns {
    /// Number of target pixels.
    int32_t count;
    /// Pairs of source pixels that go into each, an even number.
    int32_t pairs;
    /// The first of them.
    const int32_t *_Nonnull starts;
    /// Weights, two for each pair.
    const int16_t *_Nonnull weights;
    /// What sums of weighted bytes are multiplied by to be bytes again.
    float scale;
} CResamplingColumns;

/// Rows of `count` floats each, a multiple of four, that are added up with a weight each.
typedef struct CResamplingRows {
    const float *_Nonnull const *_Nonnull rows;
    const float *_Nonnull weights;
    int32_t row_count;
    int32_t count;
} CResamplingRows;

/// Widens `count` pixels of four bytes to 16-bit numbers, each channel of a pixel next to that of its neighbor:
/// r0 r1 g0 g1 b0 b1 a0 a1. Eight numbers a pair; an odd last pixel has zeros for its neighbor.
void cresampling_pair(const uint8_t *_Nonnull pixels, int32_t count, int16_t *_Nonnull pairs);

/// Filters a row of pairs; writes four floats for each target pixel.
void cresampling_filter(const CResamplingColumns *_Nonnull columns, const int16_t *_Nonnull pairs, float *_Nonnull row);

/// Adds up the rows.
void cresampling_blend(const CResamplingRows *_Nonnull rows, float *_Nonnull sums);

/// Adds up the rows to the nearest bytes; the fourth of each pixel is 255.
void cresampling_blend_opaque(const CResamplingRows *_Nonnull rows, uint8_t *_Nonnull pixels);

// The same in plain C, to compare with.
void cresampling_pair_plain(const uint8_t *_Nonnull pixels, int32_t count, int16_t *_Nonnull pairs);
void cresampling_filter_plain(
    const CResamplingColumns *_Nonnull columns, const int16_t *_Nonnull pairs, float *_Nonnull row);
void cresampling_blend_plain(const CResamplingRows *_Nonnull rows, float *_Nonnull sums);
void cresampling_blend_opaque_plain(const CResamplingRows *_Nonnull rows, uint8_t *_Nonnull pixels);

#endif
