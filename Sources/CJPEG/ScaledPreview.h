// Previews of a multi-scan file at a scale of their own.
//
// libjpeg fixes the scale of a decoder before the first output. Therefore a second decoder, which reads no file,
// renders the coefficients that the first one has so far.
#ifndef CJPEG_SCALED_PREVIEW_H
#define CJPEG_SCALED_PREVIEW_H

#include <stdio.h>

#include <jpeglib.h>

/// The second decoder and its references to the first.
typedef struct ScaledPreview {
    struct jpeg_decompress_struct info;
    struct jpeg_source_mgr source;
    j_decompress_ptr image;
    /// The coefficients of the first decoder, which must outlive the rendering, in the order of its channels.
    jvirt_barray_ptr coefficients[MAX_COMPONENTS];
    int channel_count;
    jvirt_barray_ptr (*request)(j_common_ptr, int, boolean, JDIMENSION, JDIMENSION, JDIMENSION);
    int is_running;
} ScaledPreview;

/// Records where `image` keeps its coefficients. Call it before the header is read. Uses its `client_data`.
void scaled_preview_install(ScaledPreview *preview, j_decompress_ptr image);

/// Starts to render the coefficients of `image` at `eighths` of the stored size, without block smoothing; then rows can
/// be read from `preview->info`. Errors use the error manager of `image`.
void scaled_preview_begin(ScaledPreview *preview, unsigned eighths);

/// Ends the rendering, at its last row or before. Does nothing if there is none.
void scaled_preview_end(ScaledPreview *preview);

#endif
