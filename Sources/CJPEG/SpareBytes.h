// The bytes between the last block before a marker and that marker. Not visible to Swift. Include it only after
// ScanBlock.h.
#ifndef CJPEG_SPARE_BYTES_H
#define CJPEG_SPARE_BYTES_H

/// What is known about them until the marker has been read. All zero before they are read.
typedef struct SpareBytes {
    boolean is_reading;
    /// FALSE if the bits up to the next byte are not ones, as they should be (ITU-T T.81, F.1.2.3).
    boolean is_harmless;
    /// TRUE if they have been blocks so far.
    boolean can_be_blocks;
    /// The number of blocks.
    unsigned block_count;
    /// The number of bytes.
    unsigned count;
} SpareBytes;

/// Reads them, and reports them at the fence. Returns FALSE if the marker has not been received; call the function
/// again with more bytes.
///
/// They are doubtful if they may be the last blocks: damage before them, which often yields other valid codes, makes the
/// image end early. So they may follow only the padding of the last block, and may not be blocks up to their end; and
/// before a restart marker, all are doubtful. A single byte of ones is not reported, because some encoders add it where
/// no bit has to be padded.
boolean spare_bytes_read(SpareBytes *spare, BitReader *reader, const ScanBlock *blocks, boolean precede_restart);

#endif
