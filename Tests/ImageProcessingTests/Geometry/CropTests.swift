import ImageCodecs
import ImageProcessing
import Testing

struct CropTests {
    private let size = PixelSize(width: 23, height: 17)

    @Test(arguments: PixelFormat.allCases)
    func cropKeepsTheRectangle(format: PixelFormat) throws {
        let image = Samples.noise(size, format)
        let result = try image.applying(.crop(x: 3, y: 4, width: 20, height: 1))
        #expect(result.size == PixelSize(width: 20, height: 1))
        #expect(result.format == format)
        for x in 0..<20 { #expect(result[x, 0] == image[x + 3, 4]) }
    }

    @Test func cropKeepsAll16Bits() throws {
        let image = Samples.wideNoise(size)
        let result = try image.applying(.crop(x: 3, y: 4, width: 20, height: 2))
        for y in 0..<2 {
            for x in 0..<20 { #expect(result.storedBytes(x, y) == image.storedBytes(x + 3, y + 4)) }
        }
    }

    @Test func cropOfEverythingIsTheImage() throws {
        let image = Samples.noise(size)
        #expect(try image.applying(.crop(x: 0, y: 0, width: 23, height: 17)) == image)
    }

    @Test(arguments: [
        (0, 0, 24, 1), (0, 0, 1, 18), (-1, 0, 2, 2), (0, -1, 2, 2), (22, 0, 2, 1), (.max, .max, .max, .max),
        (.min, 0, 1, 1),
    ])
    func rectangleOutsideIsRefused(x: Int, y: Int, width: Int, height: Int) {
        #expect(
            throws: CodecError.transformationFailed(
                "crop", "the rectangle of \(width)x\(height) pixels at (\(x), \(y)) is not inside the image of 23x17")
        ) { try Samples.noise(size).applying(.crop(x: x, y: y, width: width, height: height)) }
    }

    @Test func emptyRectangleIsRefused() {
        #expect(throws: CodecError.transformationFailed("crop", "the rectangle of 0x5 pixels is empty")) {
            try Samples.noise(size).applying(.crop(x: 0, y: 0, width: 0, height: 5))
        }
    }

    /// The left columns of the expected parts, 17 wide.
    @Test(arguments: [
        (ImageTransformation.Position.center, 3), (.left, 0), (.topRight, 6), (.init(x: 0.4, y: 0), 1),
        (.init(x: -3, y: .nan), 0),
    ])
    func partIsCenteredAtTheFocus(focus: ImageTransformation.Position, left: Int) throws {
        let image = Samples.noise(size)
        let result = try image.applying(.crop(toAspectRatio: 1, 1, around: focus))
        #expect(try result == image.applying(.crop(x: left, y: 0, width: 17, height: 17)))
    }

    @Test(arguments: [(16, 9, 23, 13), (1, 1, 17, 17), (1, 1000, 1, 17), (1000, 1, 23, 1), (46, 34, 23, 17)])
    func partIsTheLargestOfTheShape(width: Int, height: Int, expectedWidth: Int, expectedHeight: Int) throws {
        let transformation = ImageTransformation.crop(toAspectRatio: width, height)
        let expected = PixelSize(width: expectedWidth, height: expectedHeight)
        #expect(try transformation.outputSize(for: size) == expected)
        #expect(try Samples.noise(size).applying(transformation).size == expected)
    }

    @Test(arguments: [(0, 1), (1, -1), (.max, 1)])
    func impossibleShapeIsRefused(width: Int, height: Int) {
        #expect(throws: CodecError.self) {
            try Samples.noise(size).applying(.crop(toAspectRatio: width, height))
        }
    }

    /// A gray image with stripes, or a color, from column or row `start`.
    private func image(_ size: PixelSize, from start: Int, color: (UInt8, UInt8, UInt8)) throws -> PixelBuffer {
        var bytes = [UInt8](repeating: 255, count: size.area * 4)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let place = size.width > size.height ? x : y
                let isThing = start..<start + 60 ~= place && place % 8 < 4
                let pixel = isThing ? [color.0, color.1, color.2] : [128, 128, 128]
                for channel in 0..<3 { bytes[(y * size.width + x) * 4 + channel] = pixel[channel] }
            }
        }
        return try #require(PixelBuffer(size: size, bytes: bytes))
    }

    @Test(arguments: [0, 70, 240])
    func smartCropShowsEdgesAndColors(start: Int) throws {
        for color in [(0, 0, 0), (255, 30, 0)] as [(UInt8, UInt8, UInt8)] {
            for size in [PixelSize(width: 300, height: 100), PixelSize(width: 100, height: 300)] {
                let image = try image(size, from: start, color: color)
                let result = try image.applying(.smartCrop(toAspectRatio: 1, 1))
                let count = ReferencePixels(result).pixels.count { $0.x != 128 }
                let all = ReferencePixels(image).pixels.count { $0.x != 128 }
                #expect(Double(count) > 0.9 * Double(all))
            }
        }
    }

    @Test func smartCropOfAUniformImageIsItsCenter() throws {
        // Transparent pixels look the same, but their colors tell the places apart.
        let bytes = (0..<50 * 20).flatMap { index -> [UInt8] in [UInt8(index % 50), 0, 0, 0] }
        let image = try #require(PixelBuffer(size: PixelSize(width: 50, height: 20), bytes: bytes))
        let center = try image.applying(.crop(x: 15, y: 0, width: 20, height: 20))
        #expect(try image.applying(.smartCrop(toAspectRatio: 1, 1)) == center)
    }
}
