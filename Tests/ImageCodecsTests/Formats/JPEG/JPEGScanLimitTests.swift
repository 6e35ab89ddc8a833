import Testing

@testable import ImageCodecs

struct JPEGScanLimitTests {
    private func limit(_ width: Int, _ height: Int, _ limits: DecodeLimits = DecodeLimits()) -> JPEGScanLimit {
        JPEGScanLimit(of: PixelSize(width: width, height: height), limits: limits)
    }

    @Test func largeJPEGsMayHaveFewerScans() {
        #expect(limit(1_000, 1_000).count == 100)
        #expect(limit(10_000, 10_000).count == 21)
        #expect(limit(20_000, 10_000).count == 10)
        #expect(limit(16_383, 16_383).count == 8)
    }

    @Test func errorNamesTheLimitThatWasExceeded() {
        #expect(limit(1_000, 1_000).error == .overLimit(.scans, value: 101, limit: 100))
        #expect(limit(10_000, 10_000).error == .overLimit(.work, value: 2_200_000_000, limit: 1 << 31))
    }

    @Test func oneScanIsAllowedInAnyCase() {
        #expect(limit(100, 100, DecodeLimits(maximumWork: 5)).count == 1)
    }
}
