import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Lossy WebP images that are scaled before their colors are converted to RGB.
@Suite(.timeLimit(.minutes(5)))
struct WebPPlanesTests {
    private func file(_ width: Int, _ height: Int) throws -> [UInt8] {
        try TestImages.photo(width: width, height: height).encoded(with: .webp(WebPOptions(quality: 90, effort: 0)))
    }

    private func plan(_ file: [UInt8], _ options: DecodeOptions) throws -> DecodePlan {
        let decoder = StreamingDecoder(options: options)
        try decoder.append(file.span)
        return try #require(decoder.plan)
    }

    private func options(_ side: Int) -> DecodeOptions { DecodeOptions(target: .maximumSide(side)) }

    @Test(arguments: [(100, false), (122, false), (124, true), (200, true), (202, false)])
    func planesAreScaledFromTwoToThreeTimesTheSize(side: Int, scalesPlanes: Bool) throws {
        let plan = try plan(file(400, 300), options(side))
        #expect(plan.scalesPlanes == scalesPlanes)
        let isScaledByCodec = side < 124
        #expect(plan.rowSize.width == (isScaledByCodec ? side * 2 : 400))
    }

    @Test func planesAreNotScaledForOtherPixels() throws {
        let lossy = try file(400, 300)
        var linear = options(160)
        linear.resampling.usesLinearLight = true
        var deep = options(160)
        deep.pixelFormat = .rgba16
        #expect(try plan(lossy, options(160)).scalesPlanes)
        #expect(try !plan(lossy, linear).scalesPlanes)
        #expect(try !plan(lossy, deep).scalesPlanes)
        #expect(try !plan(lossy, options(300)).scalesPlanes)
        let photo = try TestImages.photo(width: 400, height: 300)
        let lossless = try photo.encoded(with: .webp(WebPOptions(isLossless: true, effort: 0)))
        #expect(try !plan(lossless, options(160)).scalesPlanes)
        let transparent = try TestImages.photo(width: 400, height: 300, hasAlpha: true).encoded(as: .webp)
        #expect(try !plan(transparent, options(160)).scalesPlanes)
        #expect(try !plan(photo.encoded(as: .jpeg), options(160)).scalesPlanes)
    }

    /// The filter combines pixels after libwebp has interpolated and rounded their colors, but planes before.
    @Test(arguments: [(400, 300, 160), (401, 299, 200), (333, 500, 155), (64, 64, 21)])
    func scaledPlanesResembleScaledPixels(width: Int, height: Int, side: Int) throws {
        let file = try file(width, height)
        let result = try decode(file, options: options(side)).pixels
        let pixels = try decode(file).pixels
        let canvas = OrientedCanvas(stored: result.size, orientation: .up)
        pixels.feed(BandResampler(from: pixels.size, to: result.size, hasAlpha: false, sink: canvas))
        let differences = zip(result.bytes, canvas.pixels.bytes).map { abs(Int($0) - Int($1)) }
        #expect(Double(differences.reduce(0, +)) / Double(differences.count) < 0.5)
        #expect(differences.max() ?? 255 < 12)
    }

    @Test func scaledGrayPlanesEqualScaledPixels() throws {
        var image = TestImage.photo(300, 200)
        for pixel in stride(from: 0, to: image.bytes.count, by: 4) {
            let gray = image.bytes[pixel]
            image.bytes.replaceSubrange(pixel..<pixel + 4, with: [gray, gray, gray, 255])
        }
        let file = try image.encoded(with: .webp(WebPOptions(quality: 95)))
        let result = try decode(file, options: options(120)).pixels
        let pixels = try decode(file).pixels
        let canvas = OrientedCanvas(stored: result.size, orientation: .up)
        pixels.feed(BandResampler(from: pixels.size, to: result.size, hasAlpha: false, sink: canvas))
        #expect(zip(result.bytes, canvas.pixels.bytes).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    }

    @Test(arguments: [(400, 300, 160), (3_001, 2_003, 1_200)])
    func scaledPlanesDoNotDependOnThePieces(width: Int, height: Int, side: Int) throws {
        let file = try file(width, height)
        let whole = try decode(file, options: options(side))
        #expect(whole.completeRows == whole.pixels.height)
        #expect(try decode(file, options: options(side)) { 997 } == whole)
    }

    @Test func croppedPlanesResembleCroppedPixels() throws {
        let file = try file(3_001, 2_003)
        let fill = DecodeOptions(target: .fill(PixelSize(width: 800, height: 701)))
        let plan = try plan(file, fill)
        #expect(plan.scalesPlanes && plan.rowRegion.left > 0)
        let result = try decode(file, options: fill).pixels
        let pixels = try decode(file).pixels
        let canvas = OrientedCanvas(stored: result.size, orientation: .up)
        pixels.feed(
            BandResampler(from: pixels.size, region: plan.rowRegion, to: result.size, hasAlpha: false, sink: canvas))
        let differences = zip(result.bytes, canvas.pixels.bytes).map { abs(Int($0) - Int($1)) }
        #expect(Double(differences.reduce(0, +)) / Double(differences.count) < 0.5)
    }

    @Test(arguments: [(400, 300, 160), (3_001, 2_003, 1_200)])
    func damagedPlanesKeepTheRowsBeforeTheDamage(width: Int, height: Int, side: Int) throws {
        let file = try file(width, height)
        let whole = try decode(file, options: options(side)).pixels
        var partial = options(side)
        partial.allowsPartial = true
        let image = try decode(Array(file.prefix(file.count * 2 / 3)), options: partial)
        #expect(image.isPartial && image.completeRows > 0 && image.completeRows < whole.height)
        let complete = image.completeRows * whole.width * 4
        #expect(image.pixels.bytes[..<complete] == whole.bytes[..<complete])
        #expect(image.pixels.bytes[complete...].allSatisfy { $0 == 0 })
    }

    @Test(arguments: 0..<8)
    func corruptPlanesAreAnImageOrAnError(seed: UInt64) throws {
        let file = try TestImages.photo(width: 97, height: 61).encoded(with: .webp(WebPOptions(quality: 80, effort: 0)))
        var random = SeededGenerator(seed: seed)
        var partial = options(40)
        partial.allowsPartial = true
        for _ in 0..<50 {
            var damaged = file
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[.random(in: 20..<file.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let image = try? decode(damaged, options: partial) { .random(in: 1...2_000, using: &random) }
            if let image { #expect(image.pixels.bytes.count == image.pixels.size.area * 4) }
        }
    }

    @Test func memoryOfPlanesIsLessThanThatOfPixels() throws {
        let header = ImageHeader(format: .webp, size: PixelSize(width: 12_000, height: 8_000))
        let planes = try #require(WebPRowDecoder.planarWorkingBytes(of: header))
        #expect(planes > header.size.area * 3 / 2)
        #expect(planes < header.size.area * 3 / 2 + (8 << 20))
    }
}
