import ImageCodecs
import ImageProcessing
import Testing

struct PaletteTests {
    /// Blue with a smaller red part and a green dot; a part is transparent white.
    private func image(_ format: PixelFormat = .rgba8) throws -> PixelBuffer {
        let pixels = (0..<100).flatMap { index -> [UInt8] in
            switch index {
            case 0: [0, 255, 0, 255]
            case 1..<30: [255, 0, 0, 255]
            case 30..<40: [255, 255, 255, 0]
            default: [0, 0, 255, 255]
            }
        }
        return try #require(PixelBuffer(size: PixelSize(width: 10, height: 10), bytes: pixels)).converted(to: format)
    }

    @Test(arguments: [PixelFormat.rgba8, .bgra8, .rgba8Premultiplied, .rgba16])
    func colorsAreOrderedByFrequency(format: PixelFormat) throws {
        let expected = [
            PixelColor(red: 0, green: 0, blue: 255), PixelColor(red: 255, green: 0, blue: 0),
            PixelColor(red: 0, green: 255, blue: 0),
        ]
        #expect(try image(format).palette(count: 5) == expected)
        #expect(try image(format).dominantColor == expected[0])
    }

    @Test func similarColorsAreJoined() throws {
        let image = Samples.noise(PixelSize(width: 40, height: 33))
        for count in [1, 2, 7, 256, .max] {
            #expect((1...min(count, 256)).contains(image.palette(count: count).count))
        }
        #expect(image.palette(count: 0).isEmpty)
    }

    @Test func transparentImageHasNoColors() {
        let image = PixelBuffer(transparent: PixelSize(width: 3, height: 3))
        #expect(image.dominantColor == nil)
        #expect(image.palette(count: 3).isEmpty)
    }
}
