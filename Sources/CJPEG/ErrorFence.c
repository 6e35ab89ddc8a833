#include "ErrorFence.h"

#include <string.h>

static CJPEGStatus status_of(int code) {
    switch (code) {
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_IMAGE_TOO_BIG:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
        return CJPEG_UNSUPPORTED;
    case JERR_NO_BACKING_STORE:  // reported for our memory limit
    case JERR_OUT_OF_MEMORY:
        return CJPEG_OUT_OF_MEMORY;
    case JERR_CANT_SUSPEND:  // the arithmetic decoder, which runs only once the file is complete
        return CJPEG_TRUNCATED;
    default:
        return CJPEG_CORRUPT;
    }
}

static void leave(j_common_ptr info) {
    ErrorFence *fence = (ErrorFence *)info->err;
    fence->manager.format_message(info, fence->message);
    fence->failure = status_of(fence->manager.msg_code);
    longjmp(fence->landing, 1);
}

/// Records the damage that the current message describes.
static void note_damage(ErrorFence *fence, j_common_ptr info) {
    if (!fence->is_damaged) fence->manager.format_message(info, fence->message);
    fence->is_damaged = 1;
}

/// Records warnings about lost pixels; libjpeg itself continues with gray ones.
static void note(j_common_ptr info, int level) {
    ErrorFence *fence = (ErrorFence *)info->err;
    if (level != -1 || !info->is_decompressor) return;
    switch (fence->manager.msg_code) {
    case JWRN_HIT_MARKER:
        if (((j_decompress_ptr)info)->unread_marker == JPEG_EOI) {
            fence->ended_early = 1;
            return;
        }
        break;
    case JWRN_ARITH_BAD_CODE:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
        break;
    case JWRN_BOGUS_PROGRESSION:
        if (!fence->is_strict) return;
        break;
    case JWRN_EXTRANEOUS_DATA:
        fence->deviations |= CJPEG_EXTRA_BYTES;
        if (!fence->is_strict || !fence->are_extra_bytes_doubtful) return;
        break;
    default:
        return;
    }
    note_damage(fence, info);
}

void error_fence_note_extra_bytes(j_common_ptr info, unsigned count, int marker, int are_doubtful) {
    ErrorFence *fence = (ErrorFence *)info->err;
    fence->deviations |= CJPEG_EXTRA_BYTES;
    if (!fence->is_strict || !are_doubtful) return;
    fence->manager.msg_code = JWRN_EXTRANEOUS_DATA;
    fence->manager.msg_parm.i[0] = (int)count;
    fence->manager.msg_parm.i[1] = marker;
    note_damage(fence, info);
}

static void say_nothing(j_common_ptr info) {
    (void)info;
}

struct jpeg_error_mgr *error_fence_install(ErrorFence *fence) {
    jpeg_std_error(&fence->manager);
    fence->manager.error_exit = leave;
    fence->manager.emit_message = note;
    fence->manager.output_message = say_nothing;
    return &fence->manager;
}

CJPEGStatus error_fence_fail(ErrorFence *fence, CJPEGStatus status, const char *message) {
    fence->failure = status;
    strncpy(fence->message, message, sizeof fence->message - 1);
    return status;
}

int error_fence_has_lost_pixels(const ErrorFence *fence) {
    return fence->ended_early || (fence->is_damaged && !fence->tolerates_damage);
}

CJPEGStatus error_fence_judge(ErrorFence *fence) {
    if (!error_fence_has_lost_pixels(fence)) return CJPEG_OK;
    if (fence->ended_early) return error_fence_fail(fence, CJPEG_TRUNCATED, "the image ends inside a scan");
    return fence->failure = CJPEG_CORRUPT;
}
