import ImageTestSupport
import Testing

@testable import ImageCodecs

struct LZWDecoderTests {
    private func decode(_ data: [UInt8], codeSize: Int) throws -> [UInt8] {
        var decoder = try LZWDecoder(codeSize: codeSize)
        var indices: [UInt8] = []
        for byte in data {
            decoder.append(byte)
            while let length = try decoder.nextString() { indices += decoder.string[..<length] }
        }
        #expect(decoder.hasEnded)
        return indices
    }

    /// Codes of `widths` bits, from the lowest.
    private func packed(_ codes: [(code: Int, width: Int)]) -> [UInt8] {
        var bits: [Int] = []
        for (code, width) in codes { bits += (0..<width).map { code >> $0 & 1 } }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            UInt8(bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | $1.element << $1.offset })
        }
    }

    @Test func lzwStringCanBeUsedWhileItIsDefined() throws {
        // 1; then 6, which is 1 and its first index again; then 7, which is that and again its first; the end.
        let data = packed([(4, 3), (1, 3), (6, 3), (7, 3), (5, 4)])
        #expect(try decode(data, codeSize: 2) == [1, 1, 1, 1, 1, 1])
    }

    @Test func undefinedLZWCodesAreErrors() throws {
        #expect(throws: LZWDecoder.Failure.unknownCode) { try decode(packed([(4, 3), (6, 3)]), codeSize: 2) }
        #expect(throws: LZWDecoder.Failure.unknownCode) { try decode(packed([(4, 3), (1, 3), (7, 3)]), codeSize: 2) }
    }

    @Test(arguments: [0, 12, 255])
    func invalidLZWCodeSizesAreErrors(codeSize: Int) {
        #expect(throws: LZWDecoder.Failure.codeSize) { try LZWDecoder(codeSize: codeSize) }
    }

    @Test func fullLZWTableIsNotExtended() throws {
        // Without a clear code: the same index again and again, in as many strings as fit, then many more.
        var codes: [(code: Int, width: Int)] = []
        var count = 258
        var width = 9
        for step in 0..<6_000 {
            codes.append((7, width))
            if step > 0, count < 4_096 { count += 1 }
            if count == 1 << width, width < 12 { width += 1 }
        }
        codes.append((257, width))
        #expect(try decode(packed(codes), codeSize: 8) == [UInt8](repeating: 7, count: 6_000))
    }
}
