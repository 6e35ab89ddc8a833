// Coefficient arrays for a decoder that produces no pixels: one bit per coefficient instead of two bytes.
#ifndef CJPEG_BIT_COEFFICIENTS_H
#define CJPEG_BIT_COEFFICIENTS_H

#include <stdio.h>

#include <jpeglib.h>

/// The state shared by the arrays of one decoder.
typedef struct BitCoefficients {
    int channel_count;
} BitCoefficients;

/// Makes `info` store only whether each coefficient is zero, which is all that decoding later scans of a progressive
/// file depends on, and nothing for a sequential file. Call it before the header is read; no output pass may follow.
/// Uses the `client_data` of `info`.
void bit_coefficients_install(BitCoefficients *coefficients, j_decompress_ptr info);

#endif
