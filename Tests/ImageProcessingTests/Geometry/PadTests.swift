import ImageCodecs
import ImageProcessing
import Testing

struct PadTests {
    private let color = PixelColor(red: 250, green: 20, blue: 60, alpha: 200)

    @Test func marginsHaveTheColor() throws {
        for image in Samples.all {
            let result = try image.applying(.pad(left: 1, top: 2, right: 3, bottom: 4, color: color))
            let alpha = 200.0
            let margin = SIMD4<Double>(250 * alpha / 255, 20 * alpha / 255, 60 * alpha / 255, alpha)
            let original = ReferencePixels(image)
            let size = PixelSize(width: image.width + 4, height: image.height + 6)
            let pixels = (0..<size.area).map { index in
                let (x, y) = (index % size.width - 1, index / size.width - 2)
                let isInside = 0..<image.width ~= x && 0..<image.height ~= y
                return isInside ? original[x, y] : margin
            }
            expect(result, matches: ReferencePixels(width: size.width, height: size.height, pixels: pixels))
        }
    }

    @Test func canvasIsAlignedAtThePosition() throws {
        let image = Samples.noise(PixelSize(width: 4, height: 9))
        let result = try image.applying(.pad(to: PixelSize(width: 11, height: 5), at: .right, color: .white))
        #expect(result.size == PixelSize(width: 11, height: 9))
        #expect(try result.applying(.crop(x: 7, y: 0, width: 4, height: 9)) == image)
        #expect(result[6, 8] == (255, 255, 255, 255))
    }

    @Test func withoutMarginsItIsTheImage() throws {
        let image = Samples.noise(PixelSize(width: 4, height: 9))
        #expect(try image.applying(.pad()) == image)
    }

    @Test func workingMemoryIncludesARowOfTheMargin() {
        let size = PixelSize(width: 4, height: 9)
        #expect(ImageTransformation.pad(left: 100).workingBytes(for: size) == 104 * 9 * 4 + 104 * (16 + 4))
    }

    @Test(arguments: [-1, .max, .min])
    func impossibleMarginIsRefused(margin: Int) {
        #expect(throws: CodecError.self) {
            try Samples.noise(PixelSize(width: 4, height: 9)).applying(.pad(right: margin))
        }
    }

    @Test func hugeCanvasIsRefused() {
        let image = Samples.noise(PixelSize(width: 4, height: 9))
        #expect(throws: CodecError.overLimit(.pixels, value: 3_600_000_000, limit: 0x3FFF * 0x3FFF)) {
            try image.applying(.pad(to: PixelSize(width: 60_000, height: 60_000)))
        }
        #expect(throws: CodecError.self) { try image.applying(.pad(to: PixelSize(width: .max, height: .max))) }
    }
}
