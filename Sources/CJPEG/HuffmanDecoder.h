// The entropy decoder of sequential files, in place of libjpeg's. Not visible to Swift.
#ifndef CJPEG_HUFFMAN_DECODER_H
#define CJPEG_HUFFMAN_DECODER_H

#include <stdio.h>

#include <jpeglib.h>

/// Makes libjpeg decode MCUs with a decoder that is faster than its own, and returns nonzero. Call it once
/// jpeg_start_decompress has returned TRUE.
///
/// The coefficients are the same, also of damaged files, but each invalid code is reported with JWRN_HUFF_BAD_CODE,
/// which libjpeg-turbo omits where many bytes are available.
///
/// Returns 0, and changes nothing, if the file is progressive or has arithmetic coding, or if the headers of libjpeg
/// lack its internal interface, which Debian's include.
int huffman_decoder_install(j_decompress_ptr info);

#endif
