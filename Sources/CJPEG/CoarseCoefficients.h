// Coefficient arrays for decodes at 1/8 of the size, which need few of the 64 coefficients of each block.
#ifndef CJPEG_COARSE_COEFFICIENTS_H
#define CJPEG_COARSE_COEFFICIENTS_H

#include <stdio.h>

#include <jpeglib.h>

/// The state shared by the arrays of one decoder.
typedef struct CoarseCoefficients {
    int channel_count;
    int has_refinements;
} CoarseCoefficients;

/// Makes `info` store only the lowest frequencies of each block of a multi-scan file: the DC coefficient, and 2 x 2
/// coefficients in channels of whose blocks libjpeg makes more than one pixel. In these channels, it also stores which
/// coefficients are zero if `has_refinements` is nonzero; otherwise, there must be no scans that refine their AC
/// coefficients.
///
/// Call it before the header is read; the image must then be decoded at a scale of 1/8 without block smoothing. Uses
/// the `client_data` of `info`.
void coarse_coefficients_install(CoarseCoefficients *coefficients, j_decompress_ptr info, int has_refinements);

#endif
