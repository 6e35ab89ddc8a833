// libpng leaves its functions by longjmp when it meets an error. Swift must not be in between: these functions catch
// every jump and answer with false and a message.
#ifndef CPNG_H
#define CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Reads one PNG that is fed piece by piece; makes rows of RGBA, 8 bits a channel, straight alpha.
typedef struct cpng_reader cpng_reader;

/// A reader for an image of this size, of which one piece of input never completes more than `batch_rows` rows.
/// NULL without memory.
cpng_reader *cpng_reader_create(uint32_t width, uint32_t height, uint32_t batch_rows);
void cpng_reader_destroy(cpng_reader *reader);
/// From now on rows have 16 bits a channel, in the machine's byte order. For files that have so many; before the first
/// bytes are fed.
void cpng_reader_keep_16_bits(cpng_reader *reader);

/// Takes the next bytes. False: see the message; the reader is of no more use.
bool cpng_reader_feed(cpng_reader *reader, const uint8_t *bytes, size_t count);
const char *cpng_reader_message(const cpng_reader *reader);

/// Rows complete and final so far, from the top.
uint32_t cpng_reader_final_rows(const cpng_reader *reader);
/// A final row, of those that the last feed completed (or any, where the image is interlaced).
const uint8_t *cpng_reader_row(const cpng_reader *reader, uint32_t row);
/// Interlaced images: passes that are complete, 0 to 7, and a row as good as it is known. NULL before there are any.
uint32_t cpng_reader_complete_passes(const cpng_reader *reader);
const uint8_t *cpng_reader_preview_row(const cpng_reader *reader, uint32_t row);
/// Whether the end of the file (IEND) has been read.
bool cpng_reader_has_ended(const cpng_reader *reader);

/// Bytes that were made, to be given back to cpng_file_free also when that failed.
typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    char message[96];
} cpng_file;

void cpng_file_free(cpng_file *file);

/// Unfolds a zlib stream to no more than `limit` bytes; to be freed in any case.
bool cpng_inflate(cpng_file *file, const uint8_t *bytes, size_t count, size_t limit);

/// Unfolds a zlib stream that is fed piece by piece. NULL without memory.
typedef struct cpng_inflater cpng_inflater;
cpng_inflater *cpng_inflater_create(void);
void cpng_inflater_destroy(cpng_inflater *inflater);
/// Reads from the `*count` bytes at `bytes`, and writes up to `*capacity` bytes to `output`; then these are how many it has
/// read and written. False if the stream is broken.
bool cpng_inflater_run(
    cpng_inflater *inflater, const uint8_t *bytes, size_t *count, uint8_t *output, size_t *capacity);
/// Whether the end of the stream has been read, with the right checksum.
bool cpng_inflater_has_ended(const cpng_inflater *inflater);

#endif
