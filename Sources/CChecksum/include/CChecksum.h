#ifndef CCHECKSUM_H
#define CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// Returns the CRC-32C (Castagnoli) of bytes whose beginning has the checksum `crc`; that of no bytes is 0.
///
/// Uses the instructions of the processor if it has them.
uint32_t cchecksum_crc32c(uint32_t crc, const uint8_t *bytes, size_t count);

/// The same without special instructions.
uint32_t cchecksum_crc32c_plain(uint32_t crc, const uint8_t *bytes, size_t count);

#endif
