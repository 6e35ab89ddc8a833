import ImageCodecs
import ImageTestSupport
import Testing

@testable import ImageEncoders

@Suite
struct IndexedImageTests {
    @Test
    func fewColorsArePreservedExactly() throws {
        for hasAlpha in [false, true] {
            let image = try TestImages.drawing(width: 31, height: 17, hasAlpha: hasAlpha)
            #expect(try decode(image.encoded(as: .gif)).pixels.bytes == image.bytes)
        }
    }

    @Test(arguments: [255, 256])
    func maximumNumberOfPaletteColorsIsPreservedExactly(count: Int) throws {
        let hasAlpha = count == 255
        var bytes: [UInt8] = []
        for color in 0..<count { bytes += [UInt8(color), UInt8(color / 2), UInt8(255 - color), 255] as [UInt8] }
        if hasAlpha { bytes += [0, 0, 0, 0] }
        let image = try PixelBuffer(size: PixelSize(width: 256, height: 1), bytes: bytes).unwrapped()
        #expect(try decode(image.encoded(as: .gif)).pixels.bytes == image.bytes)
        #expect(IndexedImage(exactly: image)?.transparentIndex == (hasAlpha ? 255 : nil))
    }

    @Test
    func manyColorsAreApproximated() throws {
        let image = try TestImages.photo(width: 64, height: 48)
        let decoded = try decode(image.encoded(as: .gif)).pixels.bytes
        let differences = zip(image.bytes, decoded).map { abs(Int($0) - Int($1)) }
        #expect(differences.reduce(0, +) / differences.count < 5)
    }

    @Test
    func allPaletteColorsAreUsedForManyColors() {
        let image = TestImage.noise(40, 40, seed: 7, isOpaque: true)
        let indexed = IndexedImage(nearest: image)
        #expect(IndexedImage(exactly: image) == nil)
        #expect(indexed.colors.count == 256)
        #expect(Set(indexed.indices).count > 250)
    }

    @Test
    func imageOfOneColorHasOnePaletteEntry() {
        let image = TestImage.noise(1, 1, seed: 7, isOpaque: true)
        #expect(IndexedImage(nearest: image).colors == IndexedImage(exactly: image)?.colors)
    }

    /// All shades of gray and a transparent pixel: one color more than a palette has.
    @Test
    func similarColorsAreToldApart() throws {
        var bytes: [UInt8] = []
        for shade in 0...255 { bytes += [UInt8(shade), UInt8(shade), UInt8(shade), 255] }
        bytes += [0, 0, 0, 0]
        let image = try PixelBuffer(size: PixelSize(width: 257, height: 1), bytes: bytes).unwrapped()
        let indexed = IndexedImage(nearest: image)
        #expect(indexed.colors.count == 255 && indexed.transparentIndex == 255)
        for shade in 0...255 {
            #expect(abs(Int(indexed.colors[Int(indexed.indices[shade])].red) - shade) <= 1)
        }
        #expect(indexed.indices[256] == 255)
    }
}
