// libpng reports errors by longjmp, which must not cross Swift frames: these functions catch every jump and return
// false with a message.
#ifndef CPNG_H
#define CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Decodes one PNG, appended piece by piece, to rows of RGBA with 8 bits per channel and straight alpha.
typedef struct cpng_reader cpng_reader;

/// Creates a reader for an image of this size, of which one piece of input never completes more than `batch_rows`
/// rows. NULL if out of memory.
cpng_reader *cpng_reader_create(uint32_t width, uint32_t height, uint32_t batch_rows);
void cpng_reader_destroy(cpng_reader *reader);
/// Makes rows have 16 bits per channel, in the machine's byte order. Only for 16-bit files, before the first bytes.
void cpng_reader_keep_16_bits(cpng_reader *reader);

/// Takes the next bytes. False: see the message; the reader is no longer usable.
bool cpng_reader_feed(cpng_reader *reader, const uint8_t *bytes, size_t count);
const char *cpng_reader_message(const cpng_reader *reader);
/// Returns true if the last feed failed because there is no memory for the rows.
bool cpng_reader_is_out_of_memory(const cpng_reader *reader);

/// Returns the number of complete and final rows, from the top.
uint32_t cpng_reader_final_rows(const cpng_reader *reader);
/// Returns a final row, one of those that the last feed completed (or any row of an interlaced image).
const uint8_t *cpng_reader_row(const cpng_reader *reader, uint32_t row);
/// For interlaced images: the number of complete passes, 0 to 7, and a row in the best known quality. NULL before
/// there are any.
uint32_t cpng_reader_complete_passes(const cpng_reader *reader);
const uint8_t *cpng_reader_preview_row(const cpng_reader *reader, uint32_t row);
/// The deviations of image data behind the last pixel.
enum { CPNG_WRONG_CHECKSUM = 1, CPNG_EXTRA_PIXELS = 2, CPNG_EXTRA_BYTES = 4 };
/// Returns the deviations noticed so far, as a combination of flags.
unsigned cpng_reader_deviations(const cpng_reader *reader);

/// The output bytes, to be released with cpng_file_free even after a failure.
typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    char message[96];
} cpng_file;

void cpng_file_free(cpng_file *file);

/// Decompresses a zlib stream to at most `limit` bytes. Release the file in any case.
bool cpng_inflate(cpng_file *file, const uint8_t *bytes, size_t count, size_t limit);

/// Decompresses a zlib stream piece by piece. NULL if out of memory.
typedef struct cpng_inflater cpng_inflater;
cpng_inflater *cpng_inflater_create(void);
void cpng_inflater_destroy(cpng_inflater *inflater);
/// Reads from the `*count` bytes at `bytes` and writes up to `*capacity` bytes to `output`; sets both to the numbers
/// of bytes read and written. False if the stream is broken after these bytes.
bool cpng_inflater_run(
    cpng_inflater *inflater, const uint8_t *bytes, size_t *count, uint8_t *output, size_t *capacity);
/// Returns true if the end of the stream, with a correct checksum, has been read.
bool cpng_inflater_has_ended(const cpng_inflater *inflater);

/// Detects references to data outside of the window that a zlib stream declares, in its first bytes of output. NULL if
/// out of memory.
typedef struct cpng_window cpng_window;
cpng_window *cpng_window_create(void);
void cpng_window_destroy(cpng_window *window);
/// Reads the next bytes of the stream. True if it has been found to leave its window.
bool cpng_window_run(cpng_window *window, const uint8_t *bytes, size_t count);

#endif
