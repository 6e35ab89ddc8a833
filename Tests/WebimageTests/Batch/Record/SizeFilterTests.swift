import AsyncWebImage
import Testing

@testable import webimage

struct SizeFilterTests {
    private func code(_ filter: SizeFilter, _ width: Int, _ height: Int) -> ImageError.Code? {
        do {
            try filter.check(PixelSize(width: width, height: height))
            return nil
        } catch {
            return (error as? ImageRefusal)?.code
        }
    }

    @Test func sizeFilterLimitsTheShorterSide() {
        let filter = SizeFilter(minimumSide: 10)
        #expect(code(filter, 10, 10) == nil)
        #expect(code(filter, 9, 100) == .tooSmall && code(filter, 100, 9) == .tooSmall)
    }

    @Test func sizeFilterLimitsTheArea() {
        let filter = SizeFilter(maximumArea: 100)
        #expect(code(filter, 10, 10) == nil && code(filter, 1, 100) == nil)
        #expect(code(filter, 101, 1) == .tooLarge && code(filter, .max, .max) == .tooLarge)
    }

    @Test func sizeFilterLimitsTheAspectRatio() {
        let filter = SizeFilter(maximumAspectRatio: 2)
        #expect(code(filter, 20, 10) == nil && code(filter, 10, 20) == nil)
        #expect(code(filter, 21, 10) == .aspectRatio && code(filter, 10, 21) == .aspectRatio)
    }

    @Test func sizeFilterWithoutRulesAcceptsEveryImage() {
        #expect(code(SizeFilter(), 1, 100_000) == nil)
    }
}
