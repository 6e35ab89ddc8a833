/// The sampling density of a channel of a JPEG relative to the others (ITU-T T.81, A.1.1).
struct SamplingFactors: Sendable, Hashable {
    var horizontal: Int
    var vertical: Int

    init(horizontal: Int, vertical: Int) {
        self.horizontal = horizontal
        self.vertical = vertical
    }

    /// Creates the factors from a byte of the frame header.
    init(byte: UInt8) {
        horizontal = Int(byte >> 4)
        vertical = Int(byte & 15)
    }

    /// A Boolean value that indicates whether both are from 1 to 4.
    var isValid: Bool { (1...4).contains(horizontal) && (1...4).contains(vertical) }
}

extension ImageHeader {
    /// The size of each channel of a JPEG in blocks of 8 by 8 samples, padded as its scans are.
    var blocks: [PixelSize] {
        let columns = sampling.map(\.horizontal).max() ?? 1
        let rows = sampling.map(\.vertical).max() ?? 1
        return sampling.map { factors in
            func count(_ side: Int, _ factor: Int, of most: Int) -> Int {
                let blocks = (side * factor + most * 8 - 1) / (most * 8)
                return (blocks + factor - 1) / factor * factor
            }
            return PixelSize(
                width: count(size.width, factors.horizontal, of: columns),
                height: count(size.height, factors.vertical, of: rows))
        }
    }
}
