/// An incremental parser that splits a multi-scan JPEG into segments and scans, and selects those that an image of
/// 1/8 of the size needs: the scans with the DC coefficient of each block.
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
    private let channelCount: Int
    /// The received part of a marker and of a scan header.
    private var head: [UInt8] = []
    /// The number of bytes left in a skipped segment.
    private var segmentLeft = 0
    private var isSkippingScan = false
    /// The channels whose DC coefficients the current scan completes, and those that are complete.
    private var completing: Set<UInt8> = []
    private var complete: Set<UInt8> = []

    /// Creates a parser for a file with this number of channels.
    init(channelCount: Int) {
        self.channelCount = channelCount
    }

    /// A Boolean value that indicates whether no later scan can change the DC coefficients.
    var hasAllDCCoefficients: Bool { complete.count == channelCount }

    /// A Boolean value that indicates whether the scans begun so far have all bits of all coefficients.
    var hasAllScans: Bool { coverage.isComplete(channelCount: channelCount) }

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
        guard marker == 0xDA, (8...14).contains(length) else {
            segmentLeft = max(0, length - 2)
            return takeHead()
        }
        return head.count == length + 2 ? beginScan(length: length) : .skipped
    }

    /// Reads the scan header: the channels, the first coefficient, and the number of low bits still missing.
    private mutating func beginScan(length: Int) -> Piece {
        scanCount += 1
        let channels = Int(head[4])
        guard length == 6 + 2 * channels else { return takeHead() }
        let first = head[5 + 2 * channels]
        coverage.addScan(
            of: (0..<channels).map { head[5 + 2 * $0] }, first: first, last: head[6 + 2 * channels],
            missingBits: head[7 + 2 * channels] & 15)
        guard first == 0 else {
            isSkippingScan = true
            return dropHead()
        }
        if head[7 + 2 * channels] & 15 == 0 {
            completing = Set((0..<channels).map { head[5 + 2 * $0] })
        }
        return takeHead()
    }

    private mutating func endScan() {
        complete.formUnion(completing)
        completing = []
        isSkippingScan = false
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
