import Testing

@testable import ImageCodecs

struct PreviewPlanTests {
    private func plan(_ options: DecodeOptions = DecodeOptions()) throws -> DecodePlan {
        var header = ImageHeader(format: .jpeg, size: PixelSize(width: 5_520, height: 3_680))
        header.isProgressive = true
        return try DecodePlan(header: header, options: options, format: JPEGFormat())
    }

    private func preview(_ plan: DecodePlan, _ maximumSide: Int, scales: Bool = true) throws -> PreviewPlan {
        let largest = try #require(JPEGScale(of: plan.storedSize, to: plan.rowSize))
        return PreviewPlan(of: plan, maximumSide: maximumSide) { side in
            scales ? JPEGScale(of: plan.storedSize, maximumSide: side, noLargerThan: largest).rowSize : nil
        }
    }

    @Test(arguments: [
        (.max, 5_520, 5_520), (5_520, 5_520, 5_520), (5_519, 2_760, 2_760), (1_920, 1_380, 1_380),
        (1_380, 1_380, 1_380), (1_379, 690, 690), (690, 690, 690), (100, 690, 100), (0, 690, 1),
    ])
    func previewIsScaledByCodecsThatSupportIt(maximumSide: Int, rowWidth: Int, width: Int) throws {
        let preview = try preview(plan(), maximumSide)
        #expect(preview.rowSize.width == rowWidth)
        #expect(preview.scaledSize.width == width)
        #expect(preview.rowRegion == PixelRegion(whole: preview.rowSize))
    }

    @Test func previewsAreResampledIfTheCodecCannotScale() throws {
        let preview = try preview(plan(), 1_920, scales: false)
        #expect(preview.rowSize == PixelSize(width: 5_520, height: 3_680))
        #expect(preview.scaledSize == PixelSize(width: 1_920, height: 1_280))
    }

    @Test func previewOfScaledImageHasItsSize() throws {
        let plan = try plan(DecodeOptions(target: .maximumSide(1_200)))
        let whole = try preview(plan, 1_200)
        #expect(whole.rowSize == plan.rowSize && whole.scaledSize == plan.scaledSize)
        let half = try preview(plan, 600)
        #expect(half.rowSize == PixelSize(width: 1_380, height: 920))
        #expect(half.scaledSize == PixelSize(width: 600, height: 400))
    }

    @Test func previewOfCroppedImageKeepsTheCenter() throws {
        let plan = try plan(DecodeOptions(target: .fill(PixelSize(width: 3_680, height: 3_680))))
        let preview = try preview(plan, 460)
        #expect(preview.rowSize == PixelSize(width: 690, height: 460))
        #expect(preview.rowRegion == PixelRegion(width: 460, height: 460, inTheMiddleOf: preview.rowSize))
        #expect(preview.scaledSize == PixelSize(width: 460, height: 460))
    }
}
