#include "BitReader.h"

BitReader bit_reader_refill_bytewise(BitReader reader) {
    reader.bits = reader.count > 0 ? reader.bits & ~UINT64_C(0) << (64 - reader.count) : 0;
    while (reader.count < BITS_PER_REFILL) {
        const JOCTET *next = reader.next;
        if (next == reader.end) break;
        uint64_t byte = *next++;
        if (byte == 0xFF) {
            // FF 00 is a byte; anything else is a marker, before which FF may be repeated.
            JOCTET code;
            do {
                if (next == reader.end) {
                    reader.next = next - 1;
                    return reader;
                }
                code = *next++;
            } while (code == 0xFF);
            if (code != 0) {
                reader.info->unread_marker = code;
                reader.next = next;
                reader.end = next;
                break;
            }
        }
        reader.next = next;
        reader.bits |= byte << (BITS_PER_REFILL - reader.count);
        reader.count += 8;
    }
    return reader;
}
