// The destination of libjpeg's longjmp. Shared by decoder and encoder, not visible to Swift.
#ifndef CJPEG_ERROR_FENCE_H
#define CJPEG_ERROR_FENCE_H

#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include <jerror.h>

/// libjpeg's error manager, the first member because libjpeg passes back a pointer to it.
///
/// Every function that calls libjpeg sets `landing` first: it is valid only while that function runs.
typedef struct ErrorFence {
    struct jpeg_error_mgr manager;
    jmp_buf landing;
    /// The result of every further call; CJPEG_OK if there was no failure.
    CJPEGStatus failure;
    /// The entropy decoder reached the end-of-image marker before all its blocks.
    int ended_early;
    /// The entropy decoder found invalid data, described by `message`.
    int is_damaged;
    /// Nonzero if the caller accepts damage.
    int tolerates_damage;
    /// Nonzero if unexpected bytes that may be pixels, and scans inconsistent with earlier ones, count as damage.
    int is_strict;
    /// Nonzero if unexpected bytes that libjpeg reports may be pixels: those of a scan that HuffmanDecoder does not read.
    int are_extra_bytes_doubtful;
    /// The deviations from the format found so far, as cjpeg_decoder_deviations returns them.
    unsigned deviations;
    char message[JMSG_LENGTH_MAX];
} ErrorFence;

/// Fills in the manager and returns it, for the `err` of libjpeg's structs.
struct jpeg_error_mgr *error_fence_install(ErrorFence *fence);

/// Records `count` unexpected bytes before `marker`, and reports them as damage if they are doubtful: they may be data of
/// the image that was shifted by damage.
void error_fence_note_extra_bytes(j_common_ptr info, unsigned count, int marker, int are_doubtful);

/// Returns nonzero if pixels have been lost that the caller does not accept as lost.
int error_fence_has_lost_pixels(const ErrorFence *fence);

/// Returns CJPEG_OK unless pixels have been lost, which fails at the fence.
CJPEGStatus error_fence_judge(ErrorFence *fence);

/// Makes `status` the result of this call and all following ones.
CJPEGStatus error_fence_fail(ErrorFence *fence, CJPEGStatus status, const char *message);

#endif
