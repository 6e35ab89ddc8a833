#if JPEGXL
/// Reads a sequence of numbers, which can repeat earlier ones (ISO/IEC 18181-1, annex C).
struct JPEGXLNumberReader {
    /// The number of recent numbers that can be repeated.
    private static let maximumWindow = 1 << 20
    private static let finalState: UInt32 = 0x13_0000

    private let code: JPEGXLEntropyCode
    private var state = Self.finalState
    private var window: [UInt32] = []
    private var count = 0
    /// The number of numbers that are repeated next, and where they are.
    private var repeated = 0
    private var source = 0

    init(_ code: JPEGXLEntropyCode, from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        self.code = code
        if code.hasState { state = UInt32(truncatingIfNeeded: try reader.read(32)) }
    }

    /// Reads the next number; if it is not complete, nothing changes.
    mutating func next(context: Int, from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> Int {
        if repeated == 0 {
            var (state, trial) = (state, reader)
            let cluster = code.clusters[context]
            let symbol = try code.symbol(cluster, &state, from: &trial)
            if let repetition = code.repetition, symbol >= repetition.minimumSymbol {
                let length = try repetition.lengths.read(symbol - repetition.minimumSymbol, from: &trial)
                let distances = code.clusters[code.clusters.count - 1]
                let distance = try code.symbol(distances, &state, from: &trial)
                let back = try 1 + code.formats[distances].read(distance, from: &trial)
                guard length + repetition.minimumLength <= UInt32.max else { throw .corrupt("a repetition") }
                repeated = length + repetition.minimumLength
                source = count - min(back, count, Self.maximumWindow)
                (self.state, reader) = (state, trial)
            } else {
                let number = try code.formats[cluster].read(symbol, from: &trial)
                (self.state, reader) = (state, trial)
                remember(UInt32(truncatingIfNeeded: number))
                return number
            }
        }
        // Before the first number, there are zeros.
        let number = source < count ? window[source % Self.maximumWindow] : 0
        source += 1
        repeated -= 1
        remember(number)
        return Int(number)
    }

    private mutating func remember(_ number: UInt32) {
        guard code.repetition != nil else { return }
        if count < Self.maximumWindow { window.append(number) } else { window[count % Self.maximumWindow] = number }
        count += 1
    }

    /// Throws an error unless the state is the one with which encoding began.
    func checkEnd() throws(JPEGXLInterruption) {
        guard state == Self.finalState else { throw .corrupt("a sequence of numbers") }
    }
}
#endif
