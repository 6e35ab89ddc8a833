import ImageCodecs
import ImageProcessing
import Testing

struct TrimTests {
    private let background = PixelColor(red: 240, green: 238, blue: 241)

    @Test(arguments: PixelFormat.allCases)
    func bordersAreRemoved(format: PixelFormat) throws {
        var image = Samples.noise(PixelSize(width: 9, height: 6), isOpaque: true)
        // The corners must differ from the background.
        image = try image.applying(.brightness(0.5))
        let padded = try image.applying(.pad(left: 4, top: 3, right: 2, bottom: 5, color: background))
        #expect(try padded.converted(to: format).applying(.trim()) == image.converted(to: format))
    }

    @Test func toleranceIsTheGreatestDifference() throws {
        let bytes: [UInt8] = [100, 100, 100, 255, 110, 90, 100, 255, 111, 100, 100, 255]
        let image = try #require(PixelBuffer(size: PixelSize(width: 3, height: 1), bytes: bytes))
        #expect(try image.applying(.trim(tolerance: 10)).size == PixelSize(width: 1, height: 1))
        #expect(try image.applying(.trim(tolerance: 9)).size == PixelSize(width: 2, height: 1))
    }

    @Test func transparentBordersAreRemoved() throws {
        let image = Samples.noise(PixelSize(width: 9, height: 6), isOpaque: true)
        #expect(try image.applying([.pad(left: 3, bottom: 2), .trim()]) == image)
    }

    @Test func contentInSeparateRowsIsKept() throws {
        // A dot at the lower right, and one above it to the left.
        var bytes = [UInt8](repeating: 255, count: 100 * 4)
        for (x, y) in [(3, 2), (7, 8)] { bytes[(y * 10 + x) * 4] = 0 }
        let image = try #require(PixelBuffer(size: PixelSize(width: 10, height: 10), bytes: bytes))
        #expect(try image.applying(.trim()) == image.applying(.crop(x: 3, y: 2, width: 5, height: 7)))
    }

    @Test func imageOfOneColorIsKept() throws {
        for size in Samples.sizes {
            let image = PixelBuffer(transparent: size)
            #expect(try image.applying(.trim()) == image)
        }
    }

    @Test(arguments: [-1, 256])
    func impossibleToleranceIsRefused(tolerance: Int) {
        #expect(throws: CodecError.self) {
            try PixelBuffer(transparent: PixelSize(width: 3, height: 2)).applying(.trim(tolerance: tolerance))
        }
    }
}
