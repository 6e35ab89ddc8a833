// Coefficient arrays for a decoder that makes no pixels: one bit for each coefficient instead of two bytes.
#ifndef CJPEG_BIT_COEFFICIENTS_H
#define CJPEG_BIT_COEFFICIENTS_H

#include <stdio.h>

#include <jpeglib.h>

/// What the arrays of one decoder share.
typedef struct BitCoefficients {
    int channel_count;
} BitCoefficients;

/// Lets `info` keep of each coefficient only whether it is zero, which is all that decoding later scans of a progressive
/// file depends on, and nothing of a sequential file. To be called before the header is read; no output pass may follow.
/// Takes the `client_data` of `info`.
void bit_coefficients_install(BitCoefficients *coefficients, j_decompress_ptr info);

#endif
