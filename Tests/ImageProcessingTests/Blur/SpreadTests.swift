import CResampling
import Testing

/// The vector instructions give the results of plain C.
struct SpreadTests {
    @Test(arguments: [1, 2, 3, 4, 7, 8], [1, 5, 16, 33])
    func spreadingEqualsPlainC(step: Int, count: Int) {
        let taps = Int(CRESAMPLING_SPREAD_TAPS)
        let row = (0..<((count - 1) / step + taps) * 4).map { Float($0 * 37 % 256) }
        let weights = (0..<taps * step).flatMap { repeatElement(Float($0 * 7 % 11) / 30, count: 4) }
        func spread(
            _ function: (UnsafePointer<CResamplingSpread>, UnsafePointer<Float>, UnsafeMutablePointer<Float>) -> Void
        ) -> [Float] {
            var result = [Float](repeating: -1, count: count * 4)
            weights.withUnsafeBufferPointer { weights in
                var spread = CResamplingSpread(
                    count: Int32(count), step: Int32(step), weights: weights.baseAddress!)
                function(&spread, row, &result)
            }
            return result
        }
        #expect(spread(cresampling_spread) == spread(cresampling_spread_plain))
    }

    @Test(arguments: [1, 4, 7, 16])
    func roundingEqualsPlainC(count: Int) {
        let row = (0..<count * 4).map { Float($0) * 19.7 - 30 }
        var (bytes, plain) = ([UInt8](repeating: 1, count: count * 4), [UInt8](repeating: 2, count: count * 4))
        cresampling_round(row, Int32(count), &bytes)
        cresampling_round_plain(row, Int32(count), &plain)
        #expect(bytes == plain)
        #expect(bytes.first == 0)
    }
}
