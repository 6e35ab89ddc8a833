// The innermost loops of the resampler, with vector instructions that are not available in Swift. The vector and
// plain versions give identical results.
#ifndef CRESAMPLING_H
#define CRESAMPLING_H

#include <stdint.h>

/// Weights for filtering a row of pixels or samples horizontally, in fixed point. Source pixels are processed in fours,
/// samples of one channel in sixteens.
typedef struct CResamplingColumns {
    /// The number of target pixels, or samples.
    int32_t count;
    /// The number of weights of each target pixel, a multiple of four, or of sixteen for samples of one channel.
    int32_t length;
    /// The first source pixel, or sample, of each target one.
    const int32_t *_Nonnull starts;
    /// The weights of all target pixels in sequence.
    const int16_t *_Nonnull weights;
    /// The factor that converts sums of weighted bytes to bytes.
    float scale;
} CResamplingColumns;

/// Rows of `count` floats each, a multiple of four, to be added with one weight each.
typedef struct CResamplingRows {
    const float *_Nonnull const *_Nonnull rows;
    const float *_Nonnull weights;
    int32_t row_count;
    int32_t count;
} CResamplingRows;

/// Filters a row of pixels of four bytes; writes four floats for each target pixel.
void cresampling_filter(
    const CResamplingColumns *_Nonnull columns, const uint8_t *_Nonnull pixels, float *_Nonnull row);

/// Adds the rows.
void cresampling_blend(const CResamplingRows *_Nonnull rows, float *_Nonnull sums);

/// Adds the rows and rounds to bytes; the fourth of each pixel is 255.
void cresampling_blend_opaque(const CResamplingRows *_Nonnull rows, uint8_t *_Nonnull pixels);

/// A row of an image as luma, blue chroma, and red chroma (BT.601, limited range), of `count` samples each.
typedef struct CResamplingPlanes {
    const float *_Nonnull luma;
    const float *_Nonnull blue;
    const float *_Nonnull red;
    int32_t count;
} CResamplingPlanes;

/// Filters a row of samples of one channel; writes one float for each target sample.
void cresampling_filter_plane(
    const CResamplingColumns *_Nonnull columns, const uint8_t *_Nonnull samples, float *_Nonnull row);

/// Converts a row to opaque pixels of four bytes.
void cresampling_join_planes(const CResamplingPlanes *_Nonnull planes, uint8_t *_Nonnull pixels);

/// The number of samples from which ``cresampling_spread`` calculates each pixel.
#define CRESAMPLING_SPREAD_TAPS 6

/// Weights for enlarging a row horizontally by a whole factor.
typedef struct CResamplingSpread {
    /// The number of target pixels.
    int32_t count;
    /// The number of target pixels per source pixel.
    int32_t step;
    /// For each of the six source pixels, the weights of `step` target pixels, each four times.
    const float *_Nonnull weights;
} CResamplingSpread;

/// Enlarges a row of pixels of four floats: the source pixels of a target pixel begin at its index divided by the step.
void cresampling_spread(const CResamplingSpread *_Nonnull spread, const float *_Nonnull row, float *_Nonnull result);

/// Rounds `count` pixels of four floats to bytes.
void cresampling_round(const float *_Nonnull row, int32_t count, uint8_t *_Nonnull pixels);

// The same with the instructions of every processor of this architecture, which is what is used where there is no AVX2.
void cresampling_filter_narrow(
    const CResamplingColumns *_Nonnull columns, const uint8_t *_Nonnull pixels, float *_Nonnull row);
void cresampling_filter_plane_narrow(
    const CResamplingColumns *_Nonnull columns, const uint8_t *_Nonnull samples, float *_Nonnull row);

// The same in plain C: where there are no vector instructions, for the last pixels of `cresampling_join_planes`, and
// for tests to compare with.
void cresampling_filter_plain(
    const CResamplingColumns *_Nonnull columns, const uint8_t *_Nonnull pixels, float *_Nonnull row);
void cresampling_filter_plane_plain(
    const CResamplingColumns *_Nonnull columns, const uint8_t *_Nonnull samples, float *_Nonnull row);
void cresampling_join_planes_plain(const CResamplingPlanes *_Nonnull planes, uint8_t *_Nonnull pixels);
void cresampling_blend_plain(const CResamplingRows *_Nonnull rows, float *_Nonnull sums);
void cresampling_spread_plain(
    const CResamplingSpread *_Nonnull spread, const float *_Nonnull row, float *_Nonnull result);
void cresampling_round_plain(const float *_Nonnull row, int32_t count, uint8_t *_Nonnull pixels);
void cresampling_blend_opaque_plain(const CResamplingRows *_Nonnull rows, uint8_t *_Nonnull pixels);

#endif
