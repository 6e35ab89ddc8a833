import ImageCodecs
import ImageProcessing
import Testing

struct OverlayTests {
    private let size = PixelSize(width: 23, height: 17)

    @Test(arguments: PixelFormat.allCases, [1.0, 0.4, 0])
    func overlayIsInFront(format: PixelFormat, opacity: Double) throws {
        for isOpaque in [true, false] {
            let image = Samples.noise(size, format, isOpaque: isOpaque)
            let mark = Samples.noise(PixelSize(width: 5, height: 3))
            let reference = ReferencePixels(mark)
            let expected = ReferencePixels(image).map { pixel, x, y in
                guard 18..<23 ~= x, 14..<17 ~= y else { return pixel }
                let front = reference[x - 18, y - 14] * opacity
                return front + pixel * (1 - front.w / 255)
            }
            expect(
                try image.applying(.overlay(mark, at: .bottomRight, opacity: opacity)), matches: expected, "\(format)")
        }
    }

    @Test(arguments: PixelFormat.allCases)
    func overlayCanHaveAnyFormat(format: PixelFormat) throws {
        let image = Samples.noise(size)
        let mark = Samples.noise(size, format)
        let reference = ReferencePixels(mark)
        let expected = ReferencePixels(image).map { pixel, x, y in
            reference[x, y] + pixel * (1 - reference[x, y].w / 255)
        }
        expect(try image.applying(.overlay(mark)), matches: expected)
    }

    @Test func tilesContinueFromThePosition() throws {
        let image = Samples.noise(size)
        let mark = Samples.noise(PixelSize(width: 5, height: 40), isOpaque: true)
        let result = try image.applying(.overlay(mark, at: .bottomRight, isTiled: true))
        for y in 0..<17 {
            for x in 0..<23 { #expect(result[x, y] == mark[(x + 2) % 5, y + 23]) }
        }
    }

    @Test func overlayLargerThanTheImageIsRefused() {
        let mark = Samples.noise(PixelSize(width: 24, height: 1))
        #expect(
            throws: CodecError.transformationFailed(
                "overlay", "the overlay of 24x1 is larger than the image of 23x17")
        ) { try Samples.noise(size).applying(.overlay(mark)) }
    }

    @Test(arguments: [-0.1, 1.1, .nan])
    func impossibleOpacityIsRefused(opacity: Double) {
        #expect(throws: CodecError.self) {
            try Samples.noise(size).applying(.overlay(Samples.noise(size), opacity: opacity))
        }
    }

    @Test func identifiersDifferByThePixels() {
        let (one, other) = (Samples.noise(size), Samples.noise(size, isOpaque: true))
        #expect(ImageTransformation.overlay(one) == .overlay(one))
        #expect(ImageTransformation.overlay(one) != .overlay(other))
        #expect(ImageTransformation.overlay(one) != .overlay(one, isTiled: true))
    }
}
