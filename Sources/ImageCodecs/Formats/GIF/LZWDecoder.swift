/// An incremental decoder for GIF's variant of LZW: codes of growing length, starting at the lowest bit, for strings
/// of indices.
///
/// Uses a table of 4,096 strings, regardless of the data.
struct LZWDecoder {
    /// The reason why data cannot be decoded.
    enum Failure: Error {
        /// The codes for single indices have no bits, or more than 11, so that no code could be defined.
        case codeSize
        /// A code is not in the table.
        case unknownCode
    }

    private static let maximumCodes = 1 << 12
    private static let longestCode = 12
    /// The valid sizes of codes for single indices; of more than 8 bits, the lower ones are the index, as in giflib.
    static let codeSizes = 1...11

    /// The string of the most recent code.
    private(set) var string = [UInt8](repeating: 0, count: maximumCodes)
    /// A Boolean value that indicates whether the end code has been received.
    private(set) var hasEnded = false

    /// The prefix of each string, which has one more index.
    private var prefixes = [UInt16](repeating: 0, count: maximumCodes)
    private var lastIndices = [UInt8](repeating: 0, count: maximumCodes)
    private var lengths = [UInt16](repeating: 1, count: maximumCodes)
    private var count: Int
    private var previous: Int?

    private let clearCode: Int
    private let firstCodeLength: Int
    private var codeLength: Int
    private var bits = 0
    private var bitCount = 0

    /// Creates a decoder of data whose single indices have `codeSize` bits.
    init(codeSize: Int) throws(Failure) {
        guard Self.codeSizes.contains(codeSize) else { throw .codeSize }
        clearCode = 1 << codeSize
        firstCodeLength = codeSize + 1
        codeLength = firstCodeLength
        count = clearCode + 2
        for index in 0..<clearCode { lastIndices[index] = UInt8(truncatingIfNeeded: index) }
    }

    /// Takes the next byte, after all strings of earlier bytes have been read.
    mutating func append(_ byte: UInt8) {
        bits |= Int(byte) << bitCount
        bitCount += 8
    }

    /// Returns the length of the next string, which is then at the front of ``string``; `nil` if more bytes are
    /// needed.
    mutating func nextString() throws(Failure) -> Int? {
        while !hasEnded, bitCount >= codeLength {
            let code = bits & (1 << codeLength - 1)
            bits >>= codeLength
            bitCount -= codeLength
            switch code {
            case clearCode:
                count = clearCode + 2
                codeLength = firstCodeLength
                previous = nil
            case clearCode + 1: hasEnded = true
            default: return try expand(code)
            }
        }
        return nil
    }

    private mutating func expand(_ code: Int) throws(Failure) -> Int {
        // The string being defined: the previous one followed by its own first index.
        let isNext = code == count && previous != nil && count < Self.maximumCodes
        guard code < count || isNext else { throw .unknownCode }
        let known = isNext ? previous ?? code : code
        let length = Int(lengths[known])
        var rest = known
        for position in stride(from: length - 1, through: 0, by: -1) {
            string[position] = lastIndices[rest]
            rest = Int(prefixes[rest])
        }
        if let previous, count < Self.maximumCodes {
            prefixes[count] = UInt16(truncatingIfNeeded: previous)
            lastIndices[count] = string[0]
            lengths[count] = lengths[previous] + 1
            count += 1
            if count == 1 << codeLength, codeLength < Self.longestCode { codeLength += 1 }
        }
        previous = code
        guard isNext else { return length }
        string[length] = string[0]
        return length + 1
    }
}
