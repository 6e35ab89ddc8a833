import Testing

@testable import HTTPTransport

struct SpanSearchTests {
    private let bytes = Array("a:b:c".utf8)

    @Test(arguments: [(0..<5, 1), (1..<5, 1), (2..<5, 3), (2..<4, 3)])
    func firstMatchingByteInTheRangeIsFound(range: Range<Int>, position: Int) {
        #expect(bytes.span.firstIndex(of: UInt8(ascii: ":"), in: range) == position)
    }

    @Test(arguments: [0..<1, 2..<3, 4..<5, 1..<1, 5..<5])
    func bytesOutsideTheRangeAreNotFound(range: Range<Int>) {
        #expect(bytes.span.firstIndex(of: UInt8(ascii: ":"), in: range) == nil)
    }

    @Test func nothingIsFoundInNoBytes() {
        let empty: [UInt8] = []
        #expect(empty.span.firstIndex(of: 0, in: 0..<0) == nil)
    }

    @Test(arguments: [0, 0x7F, 0x80, 0xFF] as [UInt8])
    func bytesOfAllValuesAreFound(byte: UInt8) {
        #expect([1, byte, 2].span.firstIndex(of: byte, in: 0..<3) == 1)
    }
}
