// Coefficient arrays for decodes at 1/8 of the size, which need one of the 64 coefficients of each block.
#ifndef CJPEG_COARSE_COEFFICIENTS_H
#define CJPEG_COARSE_COEFFICIENTS_H

#include <stdio.h>

#include <jpeglib.h>

/// The state shared by the arrays of one decoder.
typedef struct DCCoefficients {
    int channel_count;
} DCCoefficients;

/// Makes `info` store only the DC coefficient of each block of a multi-scan file. Call it before its header is read;
/// the image must then be decoded at a scale of 1/8 without block smoothing. Uses the `client_data` of `info`.
void dc_coefficients_install(DCCoefficients *coefficients, j_decompress_ptr info);

#endif
