#include "BitCoefficients.h"
#include "ByteSource.h"
#include "CoarseCoefficients.h"
#include "ErrorFence.h"
#include "FileTail.h"
#include "HuffmanDecoder.h"
#include "ReceivedScans.h"
#include "ScaledPreview.h"

#include <stdlib.h>
#include <string.h>

/// Below this number of unconsumed bytes, each new byte is worth a try.
enum { CHEAP_RETRY = 4 * 1024 };

/// The number of rows requested from libjpeg at once: it never has more than the rows of one iMCU.
enum { ROWS_AT_ONCE = 16 };

typedef enum Stage {
    STAGE_HEADER,
    STAGE_START,
    STAGE_SCANS,
    STAGE_ROWS,
    STAGE_TAIL,
    STAGE_ENDED,
} Stage;

struct CJPEGDecoder {
    /// The first member because libjpeg passes back a pointer to it.
    struct jpeg_decompress_struct info;
    ByteSource source;
    ErrorFence fence;
    CJPEGDecoderSetup setup;
    BitCoefficients bits;
    CoarseCoefficients coarse_coefficients;
    /// The preview, unless the decode is coarse or checks only.
    ScaledPreview preview;
    FileTail tail;
    Stage stage;
    int input_ended;
    /// Nonzero until HuffmanDecoder has read the bytes after the blocks of the last scan.
    int has_spare_bytes;
    /// Nonzero if libjpeg decodes MCUs with HuffmanDecoder.
    int has_huffman_decoder;
    /// Nonzero once a scan with AC coefficients of the first channel is complete.
    int has_detail;
    /// The number of channels in the first frame header, which libjpeg lets a second one overwrite.
    int channel_count;
    /// The first row that the current call reads, and the row at which salvaging ends.
    JDIMENSION first_row, end_row;
    /// The number of bytes from which decoding pays off before the input ends: libjpeg begins waiting segments again.
    size_t retry_at;
};

// MARK: Source

CJPEGStatus cjpeg_decoder_feed(CJPEGDecoder *decoder, const uint8_t *bytes, size_t count) {
    if (decoder->fence.failure != CJPEG_OK) return decoder->fence.failure;
    if (decoder->stage == STAGE_ENDED) return CJPEG_OK;
    return byte_source_append(&decoder->source, &decoder->fence, bytes, count, decoder->info.arith_code);
}

void cjpeg_decoder_end_input(CJPEGDecoder *decoder) {
    decoder->input_ended = 1;
}

// MARK: Life

CJPEGDecoder *cjpeg_decoder_create(CJPEGDecoderSetup setup) {
    CJPEGDecoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL) return NULL;
    decoder->setup = setup;
    decoder->info.err = error_fence_install(&decoder->fence);
    if (setjmp(decoder->fence.landing)) {
        cjpeg_decoder_destroy(decoder);
        return NULL;
    }
    jpeg_create_decompress(&decoder->info);
    // libjpeg counts earlier allocations against this limit, which hardly depend on the file.
    decoder->info.mem->max_memory_to_use = (long)setup.maximum_coefficient_bytes;
    decoder->fence.is_strict = setup.checks_only;
    decoder->fence.tolerates_damage = setup.tolerates_damage;
    if (setup.checks_only) bit_coefficients_install(&decoder->bits, &decoder->info);
    else if (setup.is_coarse)
        coarse_coefficients_install(&decoder->coarse_coefficients, &decoder->info, setup.has_refinements);
    else scaled_preview_install(&decoder->preview, &decoder->info);
    byte_source_install(&decoder->source, &decoder->info);
    return decoder;
}

void cjpeg_decoder_destroy(CJPEGDecoder *decoder) {
    if (decoder == NULL) return;
    scaled_preview_end(&decoder->preview);
    jpeg_destroy_decompress(&decoder->info);
    byte_source_free(&decoder->source);
    free(decoder);
}

const char *cjpeg_decoder_message(const CJPEGDecoder *decoder) {
    return decoder->fence.message;
}

// MARK: Decoding

static CJPEGStatus fail(CJPEGDecoder *decoder, CJPEGStatus status, const char *message) {
    return error_fence_fail(&decoder->fence, status, message);
}

static CJPEGStatus need_bytes(CJPEGDecoder *decoder) {
    if (decoder->input_ended) return fail(decoder, CJPEG_TRUNCATED, "the file ends inside its image");
    size_t waiting = decoder->source.manager.bytes_in_buffer;
    decoder->retry_at = waiting > CHEAP_RETRY ? waiting + waiting / 8 : 0;
    return CJPEG_NEEDS_BYTES;
}

static int is_waiting(const CJPEGDecoder *decoder) {
    return decoder->source.manager.bytes_in_buffer < decoder->retry_at && !decoder->input_ended;
}

/// Adds an end marker to a file that ends without one. Returns nonzero if libjpeg can continue.
static int add_end(CJPEGDecoder *decoder) {
    // With arithmetic coding, nothing shows whether the last block is complete.
    if (!decoder->input_ended || decoder->info.arith_code) return 0;
    return byte_source_add_end(&decoder->source, &decoder->fence);
}

static CJPEGStatus configure(CJPEGDecoder *decoder) {
    struct jpeg_decompress_struct *info = &decoder->info;
    if (info->image_width != decoder->setup.stored_width || info->image_height != decoder->setup.stored_height)
        return fail(decoder, CJPEG_CORRUPT, "two frame headers of different size");
    decoder->channel_count = info->num_components;
    info->scale_num = decoder->setup.eighths;
    info->scale_denom = 8;
    int cmyk = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
    info->out_color_space = cmyk ? JCS_CMYK : JCS_EXT_RGBA;
    info->buffered_image = decoder->setup.checks_only || jpeg_has_multiple_scans(info);
    return CJPEG_OK;
}

/// Like jpeg_consume_input for a started image, but also reads the bytes between blocks and markers.
static int consume_input(CJPEGDecoder *decoder) {
    struct jpeg_decompress_struct *info = &decoder->info;
    if (decoder->has_spare_bytes) {
        if (!huffman_decoder_finish_scan(info)) return JPEG_SUSPENDED;
        decoder->has_spare_bytes = 0;
    }
    int progress = decoder->setup.checks_only && !decoder->has_huffman_decoder
        ? byte_source_consume_strictly(&decoder->source, info) : jpeg_consume_input(info);
    if (progress == JPEG_REACHED_SOS) {
        decoder->source.is_between_scans = 0;
        segment_end_hide(info);
    }
    if (progress == JPEG_SCAN_COMPLETED) {
        decoder->source.is_between_scans = 1;
        decoder->has_spare_bytes = decoder->has_huffman_decoder;
        segment_end_reveal(info);
        if (scan_has_detail(info)) decoder->has_detail = 1;
    }
    return progress;
}

/// Ends a file that ends without an end marker, if its image is complete, or will be at the end of the scan. Returns
/// nonzero if reading can continue.
static int end_scans(CJPEGDecoder *decoder) {
    if (!decoder->input_ended || !scans_have_all_coefficients(&decoder->info)) return 0;
    if (decoder->source.is_between_scans && !decoder->has_spare_bytes) {
        // The beginning of a segment, which does not matter.
        decoder->info.unread_marker = 0;
        byte_source_drop(&decoder->source);
    }
    return add_end(decoder);
}

/// Reads all scans, or the only one.
static CJPEGStatus read_scans(CJPEGDecoder *decoder) {
    struct jpeg_decompress_struct *info = &decoder->info;
    for (;;) {
        int progress = consume_input(decoder);
        if (error_fence_judge(&decoder->fence) != CJPEG_OK) return decoder->fence.failure;
        if (info->input_scan_number > (int)decoder->setup.maximum_scans)
            return fail(decoder, CJPEG_TOO_MANY_SCANS, "too many scans");
        if (progress == JPEG_SUSPENDED && !end_scans(decoder)) return need_bytes(decoder);
        if (progress == JPEG_REACHED_EOI) break;
        if (progress == JPEG_SCAN_COMPLETED && !jpeg_has_multiple_scans(info)) return CJPEG_OK;
    }
    if (decoder->source.has_added_end) decoder->fence.deviations |= CJPEG_MISSING_END;
    return CJPEG_OK;
}

/// Ends an image of which everything but what follows the only scan has been read.
static CJPEGStatus end_image(CJPEGDecoder *decoder) {
    struct jpeg_decompress_struct *info = &decoder->info;
    if (decoder->stage == STAGE_ENDED) return CJPEG_ENDED;
    segment_end_reveal(info);
    while (decoder->has_spare_bytes) {
        if (huffman_decoder_finish_scan(info)) decoder->has_spare_bytes = 0;
        else if (!add_end(decoder)) return need_bytes(decoder);
    }
    if (!jpeg_has_multiple_scans(info)) {
        CJPEGStatus status = file_tail_read(&decoder->tail, info);
        if (status == CJPEG_NEEDS_BYTES && !decoder->input_ended) return need_bytes(decoder);
        if (status != CJPEG_ENDED || decoder->source.has_added_end) decoder->fence.deviations |= CJPEG_MISSING_END;
    }
    if (error_fence_judge(&decoder->fence) != CJPEG_OK) return decoder->fence.failure;
    decoder->stage = STAGE_ENDED;
    return CJPEG_ENDED;
}

/// Processes everything before the first row or, for a file that is only checked, before its end.
static CJPEGStatus advance_to_rows(CJPEGDecoder *decoder) {
    struct jpeg_decompress_struct *info = &decoder->info;
    if (decoder->stage == STAGE_HEADER) {
        if (jpeg_read_header(info, TRUE) == JPEG_SUSPENDED) return need_bytes(decoder);
        CJPEGStatus status = configure(decoder);
        if (status != CJPEG_OK) return status;
        decoder->stage = STAGE_START;
    }
    if (decoder->stage == STAGE_START) {
        if (info->arith_code && !decoder->input_ended) return need_bytes(decoder);
        if (!jpeg_start_decompress(info)) return need_bytes(decoder);
        if (info->output_width != decoder->setup.row_width || info->output_height != decoder->setup.row_height)
            return fail(decoder, CJPEG_CORRUPT, "rows of unexpected size");
        decoder->has_huffman_decoder = huffman_decoder_install(info);
        decoder->has_spare_bytes = decoder->has_huffman_decoder && !info->buffered_image;
        decoder->fence.are_extra_bytes_doubtful = !decoder->has_huffman_decoder;
        segment_end_install(info);
        decoder->stage = info->buffered_image ? STAGE_SCANS : STAGE_ROWS;
    }
    if (decoder->stage == STAGE_SCANS) {
        CJPEGStatus status = read_scans(decoder);
        if (status != CJPEG_OK) return status;
        if (decoder->setup.checks_only) {
            decoder->stage = STAGE_TAIL;
            return CJPEG_OK;
        }
        info->do_block_smoothing = !decoder->setup.is_coarse;
        if (!jpeg_start_output(info, info->input_scan_number)) return need_bytes(decoder);
        decoder->stage = STAGE_ROWS;
    }
    return CJPEG_OK;
}

void cjpeg_decoder_convert_inks(const CJPEGDecoder *decoder, uint8_t *pixels, size_t count) {
    if (decoder->info.out_color_space != JCS_CMYK) return;
    for (uint8_t *pixel = pixels; pixel < pixels + count * 4; pixel += 4) {
        unsigned black = pixel[3];
        for (int channel = 0; channel < 3; channel++)
            pixel[channel] = (uint8_t)((pixel[channel] * black + 127) / 255);
        pixel[3] = 255;
    }
}

/// Reads the rows that are ready and fit, up to `end_row`, or to where pixels are lost.
static uint32_t read_ready_rows(
    const CJPEGDecoder *decoder, j_decompress_ptr info, uint8_t *rows, size_t capacity, JDIMENSION end_row
) {
    size_t row_bytes = (size_t)info->output_width * 4;
    size_t limit = capacity / row_bytes;
    uint32_t count = 0;
    // The data of earlier scans was lost before.
    int is_reading = decoder->stage == STAGE_ROWS;
    while (count < limit && info->output_scanline < end_row && !(is_reading && error_fence_has_lost_pixels(&decoder->fence))) {
        JSAMPROW pointers[ROWS_AT_ONCE];
        uint32_t wanted = 0;
        for (; wanted < ROWS_AT_ONCE && count + wanted < limit; wanted++)
            pointers[wanted] = rows + (count + wanted) * row_bytes;
        uint32_t got = jpeg_read_scanlines(info, pointers, wanted);
        if (got == 0 || (is_reading && error_fence_has_lost_pixels(&decoder->fence))) break;
        count += got;
    }
    return count;
}

CJPEGStatus cjpeg_decoder_read_rows(CJPEGDecoder *decoder, uint8_t *rows, size_t capacity, uint32_t *row_count) {
    struct jpeg_decompress_struct *info = &decoder->info;
    *row_count = 0;
    if (decoder->fence.failure != CJPEG_OK) return decoder->fence.failure;
    if (is_waiting(decoder)) return CJPEG_NEEDS_BYTES;
    decoder->first_row = info->output_scanline;
    if (setjmp(decoder->fence.landing)) {
        if (decoder->stage != STAGE_ROWS) return decoder->fence.failure;
        // The rows above are correct; the next call will report the failure.
        *row_count = info->output_scanline - decoder->first_row;
        if (*row_count == 0) return decoder->fence.failure;
        return CJPEG_OK;
    }

    if (decoder->stage < STAGE_ROWS) {
        CJPEGStatus status = advance_to_rows(decoder);
        if (status != CJPEG_OK) return status;
    }
    if (decoder->stage == STAGE_ROWS) {
        uint32_t count = read_ready_rows(decoder, info, rows, capacity, info->output_height);
        if (count == 0 && !error_fence_has_lost_pixels(&decoder->fence) && add_end(decoder))
            count = read_ready_rows(decoder, info, rows, capacity, info->output_height);
        if (error_fence_has_lost_pixels(&decoder->fence)) {
            // The next call will report it.
            *row_count = count;
            return count > 0 ? CJPEG_OK : error_fence_judge(&decoder->fence);
        }
        if (info->output_scanline == info->output_height) {
            if (info->buffered_image) jpeg_finish_output(info);
            decoder->stage = STAGE_TAIL;
        }
        if (count == 0) return need_bytes(decoder);
        *row_count = count;
        return CJPEG_OK;
    }
    return end_image(decoder);
}

// MARK: Checks

CJPEGStatus cjpeg_decoder_check(CJPEGDecoder *decoder) {
    if (decoder->fence.failure != CJPEG_OK) return decoder->fence.failure;
    if (is_waiting(decoder)) return CJPEG_NEEDS_BYTES;
    if (setjmp(decoder->fence.landing)) return decoder->fence.failure;
    if (decoder->stage < STAGE_TAIL) {
        CJPEGStatus status = advance_to_rows(decoder);
        if (status != CJPEG_OK) return status;
    }
    if (!scans_have_all_channels(&decoder->info)) return fail(decoder, CJPEG_TRUNCATED, "a channel has no scan");
    return end_image(decoder);
}

// MARK: Previews

uint32_t cjpeg_decoder_complete_scans(const CJPEGDecoder *decoder) {
    const struct jpeg_decompress_struct *info = &decoder->info;
    if (!info->buffered_image || decoder->stage < STAGE_SCANS) return 0;
    // While scans are read, the last of them counts only once the next has begun.
    return (uint32_t)info->input_scan_number - (decoder->stage == STAGE_SCANS ? 1 : 0);
}

int cjpeg_decoder_has_detail(const CJPEGDecoder *decoder) {
    return decoder->has_detail;
}

CJPEGStatus cjpeg_decoder_begin_preview(CJPEGDecoder *decoder, uint32_t eighths) {
    if (decoder->fence.failure != CJPEG_OK) return decoder->fence.failure;
    uint32_t scan = cjpeg_decoder_complete_scans(decoder);
    if (decoder->stage != STAGE_SCANS || scan == 0) return CJPEG_NEEDS_BYTES;
    if (setjmp(decoder->fence.landing)) return decoder->fence.failure;
    if (eighths != decoder->setup.eighths && !decoder->setup.is_coarse) {
        scaled_preview_begin(&decoder->preview, eighths);
        return CJPEG_OK;
    }
    // With AC coefficients, it would hardly be visible, but take longer than everything else.
    decoder->info.do_block_smoothing = !decoder->has_detail && eighths == DCTSIZE;
    return jpeg_start_output(&decoder->info, (int)scan) ? CJPEG_OK : CJPEG_NEEDS_BYTES;
}

CJPEGStatus cjpeg_decoder_read_preview_rows(
    CJPEGDecoder *decoder, uint8_t *rows, size_t capacity, uint32_t *row_count
) {
    int is_scaled = decoder->preview.is_running;
    j_decompress_ptr info = is_scaled ? &decoder->preview.info : &decoder->info;
    *row_count = 0;
    if (decoder->fence.failure != CJPEG_OK) return decoder->fence.failure;
    if (setjmp(decoder->fence.landing)) return decoder->fence.failure;
    if (info->output_scanline == info->output_height) {
        if (is_scaled) scaled_preview_end(&decoder->preview);
        else if (info->buffered_image) jpeg_finish_output(info);
        return CJPEG_ENDED;
    }
    if (!is_scaled && decoder->end_row > 0 && info->output_scanline >= decoder->end_row) return CJPEG_ENDED;
    JDIMENSION end_row = decoder->end_row > 0 && !is_scaled ? decoder->end_row : info->output_height;
    *row_count = read_ready_rows(decoder, info, rows, capacity, end_row);
    return *row_count > 0 ? CJPEG_OK : fail(decoder, CJPEG_CORRUPT, "a preview without rows");
}

// MARK: Salvage

uint32_t cjpeg_decoder_deviations(const CJPEGDecoder *decoder) {
    return decoder->fence.deviations;
}

int cjpeg_decoder_is_damaged(const CJPEGDecoder *decoder) {
    return decoder->fence.is_damaged;
}

CJPEGStatus cjpeg_decoder_begin_salvage(CJPEGDecoder *decoder) {
    struct jpeg_decompress_struct *info = &decoder->info;
    if (decoder->stage != STAGE_SCANS || info->input_scan_number < 1) return CJPEG_NEEDS_BYTES;
    scaled_preview_end(&decoder->preview);
    decoder->fence.failure = CJPEG_OK;
    info->num_components = decoder->channel_count;
    if (setjmp(decoder->fence.landing)) return decoder->fence.failure;
    if (info->input_scan_number > 1) {
        // One scan back, because libjpeg would otherwise continue to read; it still renders everything it has.
        decoder->end_row = info->output_height;
        info->do_block_smoothing = !decoder->setup.is_coarse;
        return jpeg_start_output(info, info->input_scan_number - 1) ? CJPEG_OK : CJPEG_NEEDS_BYTES;
    }
    decoder->end_row = scan_complete_rows(info);
    if (decoder->end_row == 0) return CJPEG_NEEDS_BYTES;
    info->do_block_smoothing = FALSE;
    return jpeg_start_output(info, 1) ? CJPEG_OK : CJPEG_NEEDS_BYTES;
}
