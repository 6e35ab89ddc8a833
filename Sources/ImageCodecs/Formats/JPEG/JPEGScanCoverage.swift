/// The bits of coefficients that the scans of a JPEG contain according to their headers.
struct JPEGScanCoverage {
    /// The number of low bits missing of each coefficient, for each channel that has had a scan.
    private var missingBits: [UInt8: [UInt8]] = [:]

    /// Adds a scan that has the coefficients from `first` to `last` (in zigzag order) of some channels but for this
    /// number of low bits.
    mutating func addScan(of channels: [UInt8], first: UInt8, last: UInt8, missingBits count: UInt8) {
        guard first <= last, last < 64 else { return }
        for channel in channels {
            var bits = missingBits[channel] ?? [UInt8](repeating: .max, count: 64)
            for coefficient in first...last { bits[Int(coefficient)] = count }
            missingBits[channel] = bits
        }
    }

    /// Returns whether the scans have all bits of all coefficients of a file with this number of channels.
    func isComplete(channelCount: Int) -> Bool {
        missingBits.count == channelCount && missingBits.values.allSatisfy { $0.allSatisfy { $0 == 0 } }
    }
}
