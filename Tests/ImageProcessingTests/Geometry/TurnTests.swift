import ImageCodecs
import ImageProcessing
import Testing

struct TurnTests {
    @Test(arguments: PixelFormat.allCases)
    func rotationIsClockwise(format: PixelFormat) throws {
        for size in Samples.sizes {
            let image = Samples.noise(size, format)
            let right = try image.applying(.rotate(degrees: 90))
            #expect(right.size == PixelSize(width: size.height, height: size.width))
            for y in 0..<size.height {
                for x in 0..<size.width { #expect(right[size.height - 1 - y, x] == image[x, y]) }
            }
            #expect(try right.applying(.rotate(degrees: 270)) == image)
            #expect(try image.applying(.rotate(degrees: -90)) == image.applying(.rotate(degrees: 630)))
            #expect(try right.applying(.rotate(degrees: 90)) == image.applying(.rotate(degrees: 180)))
        }
    }

    @Test func flipExchangesTheSides() throws {
        let image = Samples.noise(PixelSize(width: 3, height: 2))
        let (mirrored, upsideDown) = try (image.applying(.flip(.horizontal)), image.applying(.flip(.vertical)))
        for y in 0..<2 {
            for x in 0..<3 {
                #expect(mirrored[2 - x, y] == image[x, y])
                #expect(upsideDown[x, 1 - y] == image[x, y])
            }
        }
    }

    @Test func turnsKeepAll16Bits() throws {
        let size = PixelSize(width: 23, height: 17)
        let image = Samples.wideNoise(size)
        let right = try image.applying(.rotate(degrees: 90))
        let mirrored = try image.applying(.flip(.horizontal))
        let upsideDown = try image.applying(.flip(.vertical))
        for y in 0..<size.height {
            for x in 0..<size.width {
                let pixel = image.storedBytes(x, y)
                #expect(right.storedBytes(size.height - 1 - y, x) == pixel)
                #expect(mirrored.storedBytes(size.width - 1 - x, y) == pixel)
                #expect(upsideDown.storedBytes(x, size.height - 1 - y) == pixel)
            }
        }
    }

    @Test(arguments: [1, 45, -91, .max, .min])
    func otherAnglesAreRefused(degrees: Int) {
        #expect(throws: CodecError.self) {
            try Samples.noise(PixelSize(width: 3, height: 2)).applying(.rotate(degrees: degrees))
        }
    }
}
