// Where libjpeg's longjmp lands. Shared by decoder and encoder, not seen by Swift.
#ifndef CJPEG_ERROR_FENCE_H
#define CJPEG_ERROR_FENCE_H

#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include <jerror.h>

/// libjpeg's error manager, first in the struct because libjpeg hands back a pointer to it.
///
/// Every function that calls libjpeg sets `landing` first: it is good only as long as that function runs.
typedef struct ErrorFence {
    struct jpeg_error_mgr manager;
    jmp_buf landing;
    /// What every further call returns; CJPEG_OK while all is well.
    CJPEGStatus failure;
    /// The entropy decoder ran into the end-of-image marker before it had all its blocks.
    int ended_early;
    /// The entropy decoder met data that cannot be right, as `message` says.
    int is_damaged;
    /// Whether bytes that belong to nothing, and scans that do not follow from those before them, count as damage.
    int is_strict;
    char message[JMSG_LENGTH_MAX];
} ErrorFence;

/// Fills in the manager and returns it, for the `err` of libjpeg's structs.
struct jpeg_error_mgr *error_fence_install(ErrorFence *fence);

/// Makes `status` the answer of this call and all that follow.
CJPEGStatus error_fence_fail(ErrorFence *fence, CJPEGStatus status, const char *message);

#endif
