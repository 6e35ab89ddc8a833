import ImageTestSupport
import Testing

@testable import ImageCodecs

struct OrientedCanvasTests {
    static let sizes = [(1, 1), (1, 5), (6, 1), (2, 2), (3, 5), (16, 9), (33, 18), (5, 40)]

    /// The eight orientations in the words of the Exif standard: the positions of the stored first row and first
    /// column.
    private func upright(_ image: PixelBuffer, _ orientation: ImageOrientation) -> [[Int]] {
        let rows = (0..<image.height).map { y in (0..<image.width).map { x in y * image.width + x } }
        let transposed = (0..<image.width).map { x in rows.map { $0[x] } }
        return switch orientation {
        case .up: rows  // row 0 at the top, column 0 at the left
        case .upMirrored: rows.map { $0.reversed() }  // top, right
        case .down: rows.reversed().map { $0.reversed() }  // bottom, right
        case .downMirrored: rows.reversed()  // bottom, left
        case .leftMirrored: transposed  // left, top
        case .right: transposed.map { $0.reversed() }  // right, top
        case .rightMirrored: transposed.reversed().map { $0.reversed() }  // right, bottom
        case .left: transposed.reversed()  // left, bottom
        }
    }

    @Test(arguments: ImageOrientation.allCases)
    func everyOrientationPutsEveryPixelInItsPlace(orientation: ImageOrientation) {
        for (width, height) in Self.sizes {
            let image = TestImage.noise(width, height, seed: 5, isOpaque: false)
            let turned = image.turned(orientation)
            let expected = upright(image, orientation).flatMap { $0 }.flatMap { image.bytes[$0 * 4..<$0 * 4 + 4] }
            #expect(turned.size == image.size.upright(orientation))
            #expect(turned.bytes == expected, "\(width)x\(height)")
        }
    }

    @Test(arguments: ImageOrientation.allCases)
    func everyOrientationMapsPixelsOneToOne(orientation: ImageOrientation) {
        for (width, height) in Self.sizes {
            let stored = PixelSize(width: width, height: height)
            let upright = stored.upright(orientation)
            var places = Set<Int>()
            for y in 0..<height {
                for x in 0..<width {
                    let place = orientation.place(x: x, y: y, in: stored)
                    #expect((0..<upright.width).contains(place.x) && (0..<upright.height).contains(place.y))
                    places.insert(place.y * upright.width + place.x)
                }
            }
            #expect(places.count == stored.area)
        }
    }

    @Test(arguments: [ImageOrientation.up, .down, .right])
    func largeImageIsWrittenCompletely(orientation: ImageOrientation) {
        // Its memory is supplied in several steps.
        let image = TestImage.noise(900, 500, seed: 6, isOpaque: false)
        let turned = image.turned(orientation)
        let back: ImageOrientation = orientation == .right ? .left : orientation
        #expect(turned.size == image.size.upright(orientation) && turned.turned(back) == image)
    }

    @Test func largeCanvasWithoutRowsIsTransparentBlack() {
        let canvas = OrientedCanvas(stored: PixelSize(width: 900, height: 500), orientation: .up)
        #expect(canvas.pixels.bytes == [UInt8](repeating: 0, count: 900 * 500 * 4))
    }

    @Test func missingCanvasRowsAreTransparentBlack() {
        let image = TestImage.photo(5, 4)
        let canvas = OrientedCanvas(stored: image.size, orientation: .down)
        canvas.append(row: image.bytes.span.extracting(0..<20))
        #expect(canvas.completeRows == 1)
        #expect(canvas.pixels.bytes[..<60].allSatisfy { $0 == 0 })
        #expect(canvas.pixels[4, 3] == image[0, 0])
    }

    @Test func missingRowsOfAnUprightCanvasAreTransparentBlack() {
        let image = TestImage.photo(5, 4)
        let canvas = OrientedCanvas(stored: image.size, orientation: .up)
        #expect(canvas.pixels == PixelBuffer(transparent: image.size))
        canvas.append(row: image.bytes.span.extracting(0..<20))
        let first = canvas.pixels
        #expect(first.bytes == image.bytes[..<20] + [UInt8](repeating: 0, count: 60))
        for y in 1..<4 { canvas.append(row: image.bytes.span.extracting(y * 20..<y * 20 + 20)) }
        #expect(canvas.pixels == image)
        #expect(first.bytes[20...].allSatisfy { $0 == 0 }, "an earlier copy does not change")
    }

    @Test func missingRowsWithoutAlphaAreWhite() {
        let size = PixelSize(width: 3, height: 2)
        let canvas = OrientedCanvas(stored: size, orientation: .up, format: .gray8)
        canvas.append(row: [1, 2, 3].span)
        #expect(canvas.pixels.bytes == [1, 2, 3, 255, 255, 255])
    }

    @Test(arguments: [ImageOrientation.up, .down, .left]) func excessCanvasRowsAreIgnored(
        orientation: ImageOrientation
    ) {
        let image = TestImage.photo(5, 4)
        let canvas = OrientedCanvas(stored: image.size, orientation: orientation)
        image.feed(canvas)
        image.feed(canvas)
        #expect(canvas.completeRows == 4)
        #expect(canvas.pixels == image.turned(orientation))
    }
}
