// The entropy decoder of sequential files, in place of libjpeg's. Not visible to Swift.
#ifndef CJPEG_HUFFMAN_DECODER_H
#define CJPEG_HUFFMAN_DECODER_H

#include <stdio.h>

#include <jpeglib.h>

/// Makes libjpeg decode MCUs with a decoder that is faster than its own, and returns nonzero. Call it once
/// jpeg_start_decompress has returned TRUE.
///
/// The coefficients are those of libjpeg's slower decoder, also of damaged files. Each invalid code is reported with
/// JWRN_HUFF_BAD_CODE; libjpeg-turbo's faster decoder, which it uses where many bytes are available, does not report it.
/// Bytes between blocks and a marker are reported at the fence. jpeg_skip_scanlines is not supported.
///
/// Returns 0, and changes nothing, if the file is progressive or has arithmetic coding, or if the headers of libjpeg
/// lack its internal interface, which Debian's include.
int huffman_decoder_install(j_decompress_ptr info);

/// Call it after each scan that the installed decoder has read, until it returns nonzero: it reads and reports the bytes
/// up to the next marker, which becomes libjpeg's unread marker. Returns 0 if bytes are missing.
int huffman_decoder_finish_scan(j_decompress_ptr info);

#endif
