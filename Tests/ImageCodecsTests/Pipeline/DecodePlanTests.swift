import Testing

@testable import ImageCodecs

struct DecodePlanTests {
    /// The size of the image is possible only without limits.
    @Test func memoryEstimateOverflowIsOverLimit() throws {
        let side = 0x7FFF_FFFF
        let header = ImageHeader(format: .png, size: PixelSize(width: side, height: side))
        let plan = try DecodePlan(
            header: header, options: DecodeOptions(target: .maximumSide(256)), format: PNGFormat())
        #expect(throws: CodecError.overLimit(.memory, value: .max, limit: .max - 1)) {
            try plan.adding(bytesPerPixel: 8)
        }
        #expect(throws: CodecError.overLimit(.memory, value: .max, limit: .max - 1)) {
            try plan.adding(bytes: .max)
        }
        #expect(try plan.adding(bytes: 1).estimatedBytes == plan.estimatedBytes + 1)
    }
}
