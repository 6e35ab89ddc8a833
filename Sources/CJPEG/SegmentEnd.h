// The end of an arithmetic-coded segment. Not visible to Swift.
#ifndef CJPEG_SEGMENT_END_H
#define CJPEG_SEGMENT_END_H

#include <stdio.h>

#include <jpeglib.h>

/// Zeros in place of the marker after a segment.
///
/// An encoder drops the zeros at the end of a segment (ITU-T T.81, D.1.8), so libjpeg reads any number of them after a
/// marker, without a warning. More than an encoder can have dropped mean that the segment was cut.
typedef struct SegmentEnd {
    boolean (*read_restart_marker)(j_decompress_ptr info);
    /// The marker, while it is hidden from libjpeg; otherwise, NULL.
    const JOCTET *marker;
    /// The number of bytes from the marker on.
    size_t hidden_count;
    /// The number of zeros that libjpeg may still read.
    size_t zero_count;
    /// Nonzero once it has read all bytes before the marker.
    int is_past;
} SegmentEnd;

/// Prepares for the first segment of a started image, if it has arithmetic coding: all bytes have been received then. The
/// other functions do nothing without arithmetic coding.
void segment_end_install(j_decompress_ptr info);

/// Hides the next marker, which ends the segment that begins now.
void segment_end_hide(j_decompress_ptr info);

/// Ends the segment: the next byte that libjpeg reads is that of the marker, unless it has not read the whole segment.
void segment_end_reveal(j_decompress_ptr info);

#endif
