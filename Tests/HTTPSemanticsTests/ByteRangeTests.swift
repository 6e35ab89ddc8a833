import Testing

@testable import HTTPSemantics

/// RFC 9110, section 14.1.2.
struct ByteRangeTests {
    @Test(
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=2-4", 2..<5), ("bytes=2-99", 2..<10), ("bytes=9-", 9..<10),
            ("bytes=-3", 7..<10), ("bytes=-99", 0..<10), ("Bytes = 2-4 ", 2..<5),
            ("bytes=10-", nil), ("bytes=10-12", nil), ("bytes=-0", nil),
        ] as [(String, Range<Int>?)])
    func rangePositionsApplyToRepresentation(text: String, positions: Range<Int>?) throws {
        #expect(try #require(ByteRange(text)).positions(in: 10) == positions)
    }

    @Test(
        arguments: [
            "", "bytes", "bytes=", "bytes=-", "bytes=1", "bytes=4-2", "bytes=0-1,3-4", "bytes=a-b", "bytes=+1-2",
            "bytes=1--2", "items=0-1", "bytes=0-99999999999999999999",
        ])
    func invalidRangeTextIsRejected(text: String) {
        #expect(ByteRange(text) == nil)
    }

    @Test func emptyRepresentationHasNoRangePositions() throws {
        #expect(try #require(ByteRange("bytes=-5")).positions(in: 0) == nil)
        #expect(try #require(ByteRange("bytes=0-")).positions(in: 0) == nil)
    }

    @Test func rangeWithoutAnEndHasAnOpenStart() {
        #expect(ByteRange("bytes=7-")?.openStart == 7)
        #expect(ByteRange("bytes=7-8")?.openStart == nil)
        #expect(ByteRange("bytes=-8")?.openStart == nil)
    }
}
