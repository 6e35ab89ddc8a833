// The innermost loops of the resampler, in vector instructions that Swift cannot name. The vector and the plain forms
// give the same bits.
#ifndef CRESAMPLING_H
#define CRESAMPLING_H

#include <stdint.h>

/// How a row of pixels is filtered along itself, in fixed point. Source pixels are taken two at a time.
typedef struct CResamplingColumns {
    /// Number of target pixels.
    int32_t count;
    /// First pair of source pixels of each target pixel.
    const int32_t *_Nonnull starts;
    /// Where the pairs of weights of each target pixel begin; one more than there are target pixels.
    const int32_t *_Nonnull offsets;
    /// Pairs of weights.
    const int16_t *_Nonnull weights;
    /// What sums of weighted bytes are multiplied by to be bytes again.
    float scale;
} CResamplingColumns;

/// Widens `count` pixels of four bytes to 16-bit numbers, each channel of a pixel next to that of its neighbour:
/// r0 r1 g0 g1 b0 b1 a0 a1. Eight numbers a pair; an odd last pixel has zeros for its neighbour.
void cresampling_pair(const uint8_t *_Nonnull pixels, int32_t count, int16_t *_Nonnull pairs);

/// Filters a row of pairs; writes four floats for each target pixel.
void cresampling_filter(const CResamplingColumns *_Nonnull columns, const int16_t *_Nonnull pairs, float *_Nonnull row);

/// Adds `row` times `weight` to `sums`, `count` floats each.
void cresampling_add(const float *_Nonnull row, float weight, float *_Nonnull sums, int32_t count);

/// The nearest bytes to `count` pixels of four floats; the fourth byte is 255.
void cresampling_round(const float *_Nonnull sums, uint8_t *_Nonnull pixels, int32_t count);

/// Whether the functions above use vectors twice as wide as every processor of this kind has.
int cresampling_is_wide(void);

/// The same as the functions above in plain C, to compare with.
void cresampling_pair_plain(const uint8_t *_Nonnull pixels, int32_t count, int16_t *_Nonnull pairs);
void cresampling_filter_plain(
    const CResamplingColumns *_Nonnull columns, const int16_t *_Nonnull pairs, float *_Nonnull row);
void cresampling_round_plain(const float *_Nonnull sums, uint8_t *_Nonnull pixels, int32_t count);

#endif
