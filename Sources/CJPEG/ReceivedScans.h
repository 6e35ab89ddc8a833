// What the scans that libjpeg has read so far contain. Not visible to Swift.
#ifndef CJPEG_RECEIVED_SCANS_H
#define CJPEG_RECEIVED_SCANS_H

#include <stdio.h>

#include <jpeglib.h>

/// Returns nonzero if a scan with the DC coefficients of each channel has been received.
int scans_have_all_channels(const struct jpeg_decompress_struct *info);

/// Returns nonzero if no further scan can add to the image: all scans so far, including the current one, have all bits
/// of all coefficients.
int scans_have_all_coefficients(const struct jpeg_decompress_struct *info);

/// Returns nonzero if the scan that has been read has AC coefficients of the first channel.
int scan_has_detail(const struct jpeg_decompress_struct *info);

/// Returns the end of the rows that can be decoded from the first scan without the missing data after it.
JDIMENSION scan_complete_rows(const struct jpeg_decompress_struct *info);

#endif
