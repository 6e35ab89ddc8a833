#include <stdio.h>

#include <jpeglib.h>

#if defined(LIBJPEG_TURBO_VERSION) && __has_include(<jpegint.h>)

#include "ErrorFence.h"
#include "ScanBlock.h"
#include "SpareBytes.h"

/// The largest absolute values of a DC difference and an AC coefficient of 8-bit samples (ITU-T T.81, F.1.2).
enum { LARGEST_DIFFERENCE = 2047, LARGEST_COEFFICIENT = 1023 };

/// Other bytes are hardly ever so many blocks.
enum { CONVINCING_BLOCKS = 32 };

typedef enum Trial { TRIAL_BLOCK, TRIAL_OTHER, TRIAL_ENDED } Trial;

// MARK: Blocks

/// Reads a symbol and its value, which may not exceed `largest`. TRIAL_ENDED means that bits are missing.
static Trial try_symbol(BitReader *reader, const HuffmanTable *table, int largest, uint32_t *advance) {
    bit_reader_refill(reader);
    HuffmanEntry entry = table->entries[bit_reader_peek(reader, HUFFMAN_INDEX_BITS)];
    int length = huffman_entry_length(entry), value = huffman_entry_value(entry);
    if (length == 0) {
        entry = huffman_table_search(table, bit_reader_peek(reader, HUFFMAN_LONGEST_CODE), &length);
        if (length > HUFFMAN_LONGEST_CODE) return TRIAL_OTHER;
        value = huffman_entry_value(entry);
    }
    bit_reader_drop(reader, length);
    if (!huffman_entry_is_complete(entry) && value > 0) {
        int size = value;
        value = huffman_value(bit_reader_peek(reader, size), size);
        bit_reader_drop(reader, size);
    }
    *advance = huffman_entry_advance(entry);
    if (reader->count < 0) return TRIAL_ENDED;
    return value < -largest || value > largest ? TRIAL_OTHER : TRIAL_BLOCK;
}

/// Reads a block as an encoder writes it.
static Trial try_block(BitReader *reader, const ScanBlock *block) {
    uint32_t end = 1, advance;
    Trial trial = try_symbol(reader, block->dc_table, LARGEST_DIFFERENCE, &advance);
    while (trial == TRIAL_BLOCK && end < DCTSIZE2) {
        trial = try_symbol(reader, &block->ac_table->symbols, LARGEST_COEFFICIENT, &advance);
        if (advance == HUFFMAN_END_OF_BLOCK) return trial;
        end += advance;
    }
    return trial == TRIAL_BLOCK && end > DCTSIZE2 ? TRIAL_OTHER : trial;
}

// MARK: Reading

static boolean has_marker(const BitReader *reader) {
    return reader->info->unread_marker != 0;
}

/// Returns whether the next `count` bits, at most 63, are ones.
static boolean are_ones(const BitReader *reader, int count) {
    return count == 0 || (~reader->bits >> (64 - count)) == 0;
}

/// Reads what follows the last block. Returns FALSE if neither the marker nor enough bytes have been received.
static boolean begin(SpareBytes *spare, BitReader *reader) {
    bit_reader_refill(reader);
    if (!has_marker(reader) && reader->count < BITS_PER_REFILL) return FALSE;
    int padding = reader->count % 8;
    boolean are_zeros = reader->bits << padding == 0;
    int is_byte_of_ones = has_marker(reader) && reader->count < 16 && are_ones(reader, reader->count);
    spare->count = is_byte_of_ones ? 0 : (unsigned)reader->count / 8;
    // A few zeros, which make the length a multiple of some number, can be blocks of the shortest codes.
    spare->is_harmless = are_ones(reader, padding) || (has_marker(reader) && are_zeros);
    spare->can_be_blocks = spare->count > 0 && !(has_marker(reader) && are_zeros);
    spare->is_reading = TRUE;
    return TRUE;
}

/// Reads blocks up to the marker, or to where there is none. Returns FALSE if bytes are missing.
static boolean read_blocks(SpareBytes *spare, BitReader *reader, const ScanBlock *blocks) {
    while (spare->can_be_blocks) {
        bit_reader_refill(reader);
        if (has_marker(reader) && reader->count < 8 && are_ones(reader, reader->count)) break;
        BitReader next = *reader;
        Trial trial = try_block(&next, &blocks[spare->block_count % (unsigned)reader->info->blocks_in_MCU]);
        if (trial == TRIAL_ENDED && !has_marker(reader)) return FALSE;
        *reader = next;
        if (trial == TRIAL_BLOCK) {
            spare->block_count++;
        } else {
            spare->can_be_blocks = trial == TRIAL_ENDED && spare->block_count >= CONVINCING_BLOCKS;
            break;
        }
    }
    return TRUE;
}

/// Drops bytes up to the marker. Returns FALSE if it has not been received.
static boolean drop(BitReader *reader) {
    do {
        reader->bits = 0;
        reader->count = 0;
        if (has_marker(reader)) return TRUE;
        bit_reader_refill(reader);
    } while (reader->count > 0 || has_marker(reader));
    return FALSE;
}

boolean spare_bytes_read(SpareBytes *spare, BitReader *reader, const ScanBlock *blocks, boolean precede_restart) {
    if (!spare->is_reading && !begin(spare, reader)) return FALSE;
    boolean had_marker = has_marker(reader);
    const JOCTET *start = reader->next;
    boolean is_read = read_blocks(spare, reader, blocks) && drop(reader);
    spare->count += (unsigned)(reader->next - start);
    if (!is_read) return FALSE;
    // The marker itself has two bytes.
    unsigned count = spare->count - (had_marker ? 0 : 2);
    int is_doubtful = precede_restart || spare->can_be_blocks || !spare->is_harmless;
    if (count > 0)
        error_fence_note_extra_bytes((j_common_ptr)reader->info, count, reader->info->unread_marker, is_doubtful);
    *spare = (SpareBytes){0};
    return TRUE;
}

#endif
