/// Cuts a JPEG of several scans into segments and scans while its bytes arrive, and says which of them an image of 1/8 of
/// the size needs: those of the mean (DC) of each block.
///
/// The other scans, most of the file, need not be decoded at all.
struct JPEGSegments {
    /// A part of the file.
    enum Piece {
        /// For the codec.
        case kept(Range<Int>)
        /// For the codec; some of these bytes came earlier.
        case head([UInt8])
        /// Not needed, or not decided yet.
        case skipped
    }

    /// Scans begun.
    private(set) var scanCount = 0
    /// A Boolean value that indicates whether the end marker has come.
    private(set) var hasEnded = false
    private let channelCount: Int
    /// What has come of a marker, and of a scan's header.
    private var head: [UInt8] = []
    /// Bytes still to come of a segment of no interest.
    private var segmentLeft = 0
    private var isSkippingScan = false
    /// The channels whose means the scan under way completes, and those that are complete.
    private var completing: Set<UInt8> = []
    private var complete: Set<UInt8> = []

    /// For a file of so many channels.
    init(channelCount: Int) {
        self.channelCount = channelCount
    }

    /// A Boolean value that indicates whether no scan that follows can change the means.
    var hasAllMeans: Bool { complete.count == channelCount }

    /// The next piece of `bytes` from `offset` on, which must be inside and moves behind the piece.
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

    /// Where the next marker begins, or may begin if its second byte has not come.
    private static func nextMarker(in bytes: Span<UInt8>, from start: Int) -> Int {
        for index in start..<bytes.count where bytes[index] == 0xFF {
            if index + 1 == bytes.count || isMarker(bytes[index + 1]) { return index }
        }
        return bytes.count
    }

    /// Inside of scans, 00 says that FF is data, and D0 to D7 are no end; FF may be repeated anywhere.
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

    /// The header says which channels follow, from which coefficient on, and how many low bits are still missing.
    private mutating func beginScan(length: Int) -> Piece {
        scanCount += 1
        let channels = Int(head[4])
        guard length == 6 + 2 * channels else { return takeHead() }
        let first = head[5 + 2 * channels]
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
