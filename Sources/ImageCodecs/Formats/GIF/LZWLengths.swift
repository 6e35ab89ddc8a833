/// An incremental parser for GIF's variant of LZW that only determines the lengths of strings.
///
/// It accepts the same data as ``LZWDecoder`` without building strings: its time depends on the codes, not on the
/// pixels.
struct LZWLengths {
    private static let maximumCodes = 1 << 12
    private static let longestCode = 12

    /// The number of pixels of all strings so far; saturates at `limit`.
    private(set) var pixelCount = 0
    /// A Boolean value that indicates whether the end code has been received.
    private(set) var hasEnded = false

    private let limit: Int
    private var lengths = [UInt16](repeating: 1, count: maximumCodes)
    private var count: Int
    /// The length of the previous string, or 0 if there is none.
    private var previousLength: UInt16 = 0
    private let clearCode: Int
    private let firstCodeLength: Int
    private var codeLength: Int
    private var bits = 0
    private var bitCount = 0

    /// Creates a parser of data whose single indices have `codeSize` bits.
    ///
    /// It stops counting at `limit` pixels.
    init(codeSize: Int, limit: Int) throws(LZWDecoder.Failure) {
        guard LZWDecoder.codeSizes.contains(codeSize) else { throw .codeSize }
        self.limit = limit
        clearCode = 1 << codeSize
        firstCodeLength = codeSize + 1
        codeLength = firstCodeLength
        count = clearCode + 2
    }

    /// Reads the next bytes, up to the limit or the end code.
    mutating func append(_ bytes: Span<UInt8>) throws(LZWDecoder.Failure) {
        for index in bytes.indices {
            bits |= Int(bytes[index]) << bitCount
            bitCount += 8
            while bitCount >= codeLength {
                guard pixelCount < limit, !hasEnded else { return }
                let code = bits & (1 << codeLength - 1)
                bits >>= codeLength
                bitCount -= codeLength
                try take(code)
            }
        }
    }

    private mutating func take(_ code: Int) throws(LZWDecoder.Failure) {
        if code == clearCode {
            count = clearCode + 2
            codeLength = firstCodeLength
            previousLength = 0
            return
        }
        if code == clearCode + 1 {
            hasEnded = true
            return
        }
        let isNext = code == count && previousLength > 0 && count < Self.maximumCodes
        guard code < count || isNext else { throw .unknownCode }
        let length = isNext ? previousLength + 1 : lengths[code]
        if previousLength > 0, count < Self.maximumCodes {
            lengths[count] = previousLength + 1
            count += 1
            if count == 1 << codeLength, codeLength < Self.longestCode { codeLength += 1 }
        }
        previousLength = length
        pixelCount = min(limit, pixelCount + Int(length))
    }
}
