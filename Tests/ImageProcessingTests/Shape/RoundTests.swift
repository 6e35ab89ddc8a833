import ImageCodecs
import ImageProcessing
import Testing

/// Rounded corners and circles, against the covered part of each pixel, counted in 64 × 64 points.
struct RoundTests {
    private func expectRounded(_ image: PixelBuffer, _ radius: Double, _ transformation: ImageTransformation) throws {
        let (width, height) = (Double(image.width), Double(image.height))
        let radius = min(radius, width / 2, height / 2)
        let points = (0..<64).map { (Double($0) + 0.5) / 64 }
        let expected = ReferencePixels(image).map { pixel, x, y in
            var count = 0
            for dy in points {
                for dx in points {
                    // The distance from the rectangle of the centers of all corners.
                    let (px, py) = (Double(x) + dx, Double(y) + dy)
                    let outsideX = max(radius - px, px - (width - radius), 0)
                    let outsideY = max(radius - py, py - (height - radius), 0)
                    if outsideX * outsideX + outsideY * outsideY <= radius * radius { count += 1 }
                }
            }
            return pixel * Double(count) / 4096
        }
        expect(
            try image.applying(transformation), matches: expected, "\(image.size) \(image.format) \(radius)")
    }

    @Test(arguments: [0, 0.7, 1, 2.5, 3.2, 8, .infinity])
    func cornersAreAntialiased(radius: Double) throws {
        for image in Samples.all where image.width < 30 {
            try expectRounded(image, radius, .rounded(radius: radius))
        }
    }

    @Test func circleIsInTheMiddle() throws {
        for image in Samples.all where image.width < 30 {
            let side = min(image.width, image.height)
            let (x, y) = ((image.width - side) / 2, (image.height - side) / 2)
            let square = try image.applying(.crop(x: x, y: y, width: side, height: side))
            #expect(try ImageTransformation.circle.outputSize(for: image.size) == square.size)
            #expect(try image.applying(.circle) == square.applying(.rounded(radius: .infinity)))
        }
        let image = Samples.noise(PixelSize(width: 15, height: 9), isOpaque: true)
        #expect(try image.applying(.circle)[0, 0].alpha == 0)
        #expect(try image.applying(.circle)[4, 4].alpha == 255)
    }

    @Test(arguments: [-1, .nan])
    func impossibleRadiusIsRefused(radius: Double) {
        #expect(throws: CodecError.self) {
            try Samples.noise(PixelSize(width: 3, height: 3)).applying(.rounded(radius: radius))
        }
    }
}
