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

    /// Of a wide and low image, the weights of the planes take most of the memory.
    @Test func planThatScalesPlanesReservesMemoryForTheirResampler() throws {
        let header = ImageHeader(format: .webp, size: PixelSize(width: 16_383, height: 2))
        let options = DecodeOptions(target: .maximumSide(8_191))
        let plan = try DecodePlan(header: header, options: options, format: WebPFormat())
        #expect(plan.scalesPlanes && plan.outputSize == PixelSize(width: 8_191, height: 1))
        let (filter, whole) = (options.resampling.filter, PixelRegion(whole: header.size))
        let planes = PlanarResampler.workingBytes(from: header.size, region: whole, to: plan.outputSize, filter: filter)
        #expect(planes > BandResampler.workingBytes(from: header.size, to: plan.outputSize, filter: filter))
        let decoder = try #require(WebPRowDecoder.planarWorkingBytes(of: header))
        #expect(plan.estimatedBytes >= decoder + planes + plan.outputSize.area * 4)
    }
}
