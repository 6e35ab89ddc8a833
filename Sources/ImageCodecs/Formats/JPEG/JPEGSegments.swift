/// An incremental parser that splits a multi-scan JPEG into segments and scans, and selects those that a coarse decode
/// needs: those with DC coefficients, and of AC coefficients those with low frequencies of the channels that need them.
///
/// The other scans, most of the file, need not be decoded.
struct JPEGSegments {
    /// A part of the file.
    enum Piece {
        /// A part for the codec.
        case kept(Range<Int>)
        /// A part for the codec, some bytes of which were received earlier.
        case head([UInt8])
        /// A part that is not needed, or not needed yet; in the latter case, a later `head` contains it.
        case skipped
    }

    /// The number of scans begun.
    private(set) var scanCount = 0
    /// A Boolean value that indicates whether the end marker has been received.
    private(set) var hasEnded = false
    private var coverage = JPEGScanCoverage()
    private let decode: JPEGCoarseDecode
    /// The coefficients of each channel that are not complete, as in ``JPEGCoarseDecode/coefficients``.
    private var missing: [UInt64]
    /// The numbers by which scans refer to the channels: those of the frame header, or the usual ones before it.
    private var identifiers: [UInt8]
    /// The received part of a marker and of a scan header.
    private var head: [UInt8] = []
    /// The number of bytes left in a skipped segment.
    private var segmentLeft = 0
    private var isSkippingScan = false
    /// The current scan.
    private var scan: Scan?

    /// A scan that is needed.
    private struct Scan {
        /// The coefficients that it contains, as in ``JPEGCoarseDecode/coefficients``.
        var coefficients: UInt64
        var channels: [UInt8]
        /// A Boolean value that indicates whether it adds a bit to coefficients of earlier scans.
        var isRefinement: Bool
        /// A Boolean value that indicates whether no bits are missing after it.
        var isLast: Bool
    }

    /// Creates a parser that selects the scans for this decode.
    init(for decode: JPEGCoarseDecode) {
        self.decode = decode
        missing = decode.coefficients
        identifiers = missing.indices.map { UInt8(truncatingIfNeeded: $0 + 1) }
    }

    /// A Boolean value that indicates whether no later scan is needed.
    var hasAllCoefficients: Bool { missing.allSatisfy { $0 == 0 } }

    /// A Boolean value that indicates whether the scans begun so far have all bits of all coefficients.
    var hasAllScans: Bool { coverage.isComplete(channelCount: missing.count) }

    /// Returns the next piece of `bytes` from `offset`, which must be in range, and advances `offset` past the piece.
    mutating func next(in bytes: Span<UInt8>, from offset: inout Int) -> Piece {
        let start = offset
        if segmentLeft > 0 {
            offset += min(segmentLeft, bytes.count - start)
            segmentLeft -= offset - start
            return .kept(start..<offset)
        }
        if head.isEmpty {
            offset = Self.nextMarker(in: bytes, from: start)
            if offset > start { return isSkippingScan ? .skipped : .kept(start..<offset) }
        }
        head.append(bytes[offset])
        offset += 1
        return completeHead()
    }

    /// Returns the start of the next marker, or of a possible marker whose second byte has not been received.
    private static func nextMarker(in bytes: Span<UInt8>, from start: Int) -> Int {
        for index in start..<bytes.count where bytes[index] == 0xFF {
            if index + 1 == bytes.count || isMarker(bytes[index + 1]) { return index }
        }
        return bytes.count
    }

    /// Returns whether the byte after FF belongs to a marker that ends a scan: it is not 00 (stuffing), D0 to D7
    /// (restart markers), or FF (fill).
    private static func isMarker(_ byte: UInt8) -> Bool {
        byte != 0 && byte != 0xFF && !(0xD0...0xD7).contains(byte)
    }

    private mutating func completeHead() -> Piece {
        guard head.count > 1 else { return .skipped }
        let marker = head[1]
        if head.count == 2 {
            switch marker {
            case 0xFF:
                head.removeLast()
                return isSkippingScan ? .skipped : .head([0xFF])
            case _ where !Self.isMarker(marker): return isSkippingScan ? dropHead() : takeHead()
            case 0x01, 0xD8: return takeHead()
            case 0xD9:
                endScan()
                hasEnded = true
                return takeHead()
            default:
                endScan()
                return .skipped
            }
        }
        guard head.count > 3 else { return .skipped }
        let length = Int(head[2]) << 8 | Int(head[3])
        let isFrame = [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(marker) && length == 8 + 3 * identifiers.count
        guard isFrame || marker == 0xDA && (8...14).contains(length) else {
            segmentLeft = max(0, length - 2)
            return takeHead()
        }
        guard head.count == length + 2 else { return .skipped }
        guard isFrame else { return beginScan(length: length) }
        identifiers = identifiers.indices.map { head[10 + 3 * $0] }
        return takeHead()
    }

    /// Reads the scan header: the channels, the coefficients, and the number of low bits missing before and after.
    private mutating func beginScan(length: Int) -> Piece {
        scanCount += 1
        let count = Int(head[4])
        guard length == 6 + 2 * count else { return takeHead() }
        let (first, last) = (head[5 + 2 * count], head[6 + 2 * count])
        guard first <= last, last < 64 else { return takeHead() }
        let bits = head[7 + 2 * count]
        let channels = (0..<count).map { head[5 + 2 * $0] }
        coverage.addScan(of: channels, first: first, last: last, missingBits: bits & 15)
        let scan = Scan(
            coefficients: UInt64.max >> (63 - UInt64(last)) & UInt64.max << UInt64(first), channels: channels,
            isRefinement: bits >> 4 != 0, isLast: bits & 15 == 0)
        guard first == 0 || missing.indices.contains(where: { needs(scan, at: $0) }) else {
            isSkippingScan = true
            return dropHead()
        }
        self.scan = scan
        return takeHead()
    }

    /// Returns whether a scan of AC coefficients is needed for the channel at `index`.
    private func needs(_ scan: Scan, at index: Int) -> Bool {
        guard missing[index] > 1, scan.channels.contains(identifiers[index]) else { return false }
        // A refinement depends on all the coefficients that it contains.
        return decode.needsRefinements || !scan.isRefinement && scan.coefficients & missing[index] != 0
    }

    private mutating func endScan() {
        isSkippingScan = false
        guard let scan else { return }
        self.scan = nil
        guard scan.isLast || !decode.needsRefinements && scan.coefficients & 1 == 0 else { return }
        for index in missing.indices where scan.channels.contains(identifiers[index]) {
            missing[index] &= ~scan.coefficients
        }
    }

    private mutating func takeHead() -> Piece {
        defer { head.removeAll(keepingCapacity: true) }
        return .head(head)
    }

    private mutating func dropHead() -> Piece {
        head.removeAll(keepingCapacity: true)
        return .skipped
    }
}
