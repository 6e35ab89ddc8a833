import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

struct EncodeOptionsTests {
    @Test(arguments: [(JPEGOptions.ChromaSubsampling.full, 1, 1), (.halfWidth, 2, 1), (.half, 2, 2)])
    func chromaSubsamplingIsApplied(chroma: JPEGOptions.ChromaSubsampling, width: Int, height: Int) throws {
        let image = TestImage.photo(61, 47)
        for isProgressive in [false, true] {
            let file = try image.encoded(with: .jpeg(JPEGOptions(chroma: chroma, isProgressive: isProgressive)))
            let header = try probe(file).unwrapped()
            #expect(header.sampling[0] == SamplingFactors(horizontal: width, vertical: height))
            #expect(header.sampling[1] == SamplingFactors(horizontal: 1, vertical: 1))
            #expect(header.isProgressive == isProgressive)
            if ReferenceDecoder.has("djpeg") {
                #expect(try ReferenceDecoder.decodeJPEG(file).rgb == decode(file).pixels.rgb)
            }
        }
    }

    @Test(arguments: [(89, 2), (90, 1)])
    func highQualityKeepsFullChroma(quality: Int, factor: Int) throws {
        let file = try TestImage.photo(30, 30).encoded(with: .jpeg(JPEGOptions(quality: quality)))
        #expect(try probe(file)?.sampling[0].horizontal == factor)
    }

    /// An image of the given colors, row by row.
    private func image(width: Int, _ pixels: [[UInt8]]) throws -> PixelBuffer {
        let size = PixelSize(width: width, height: pixels.count / width)
        return try PixelBuffer(size: size, bytes: pixels.flatMap(\.self)).unwrapped()
    }

    /// Color type and bit depth of a PNG.
    private func form(_ file: [UInt8]) -> [UInt8] { [file[25], file[24]] }

    private func gray(_ count: Int, step: Int) throws -> PixelBuffer {
        try image(width: 64, (0..<64 * 64).map { [UInt8]($0 % count * step, alpha: 255) })
    }

    @Test(arguments: [(2, 255, 1), (4, 85, 2), (16, 17, 4), (256, 1, 8)])
    func grayImagesAreStoredWithTheFewestBits(count: Int, step: Int, depth: UInt8) throws {
        let image = try gray(count, step: step)
        let file = try image.encoded(as: .png)
        #expect(form(file) == [0, depth])
        #expect(try decode(file).pixels == image)
        let plain = try image.encoded(with: .png(PNGOptions(reducesColors: false)))
        #expect(form(plain) == [2, 8])
        #expect(try decode(plain).pixels == image)
        #expect(plain.count > file.count)
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2), (16, 4), (17, 8), (256, 8)], [false, true])
    func imageOfFewColorsIsStoredWithAPalette(colors: (count: Int, depth: UInt8), hasAlpha: Bool) throws {
        let (count, depth) = colors
        let image = try image(
            width: 64,
            (0..<64 * 64).map {
                let color = $0 % count
                return [UInt8(color), 20, 77, hasAlpha ? UInt8(color * 5 & 255) : 255]
            })
        let file = try image.encoded(as: .png)
        #expect(form(file) == [3, depth])
        #expect(try decode(file).pixels == image)
        #expect(try probe(file)?.hasAlpha == hasAlpha)
    }

    @Test(arguments: [false, true])
    func imageOf257ColorsHasNoPalette(hasAlpha: Bool) throws {
        let image = try image(
            width: 64, (0..<64 * 64).map { [UInt8($0 % 256), $0 == 4000 ? 21 : 20, 77, hasAlpha ? 9 : 255] })
        let file = try image.encoded(as: .png)
        #expect(form(file) == [hasAlpha ? 6 : 2, 8])
        #expect(try decode(file).pixels == image)
    }

    @Test func grayPNGWithAlphaHasTwoChannels() throws {
        let image = try image(width: 64, (0..<64 * 64).map { [UInt8]($0 % 251, alpha: UInt8($0 / 64)) })
        let file = try image.encoded(as: .png)
        #expect(form(file) == [4, 8])
        #expect(try decode(file).pixels == image)
    }

    @Test func aSmallImageGetsNoPaletteLongerThanItself() throws {
        let image = TestImage.photo(3, 3)
        let file = try image.encoded(as: .png)
        #expect(form(file) == [2, 8])
        #expect(try decode(file).pixels == image)
    }

    @Test func compressedFilesAreSmallerAndAllLevelsAreExact() throws {
        let image = TestImage.photo(120, 90)
        let files = try [-3, 0, 1, 9, 12].map { try image.encoded(with: .png(PNGOptions(compressionLevel: $0))) }
        #expect(files[0] == files[1] && files[3] == files[4])
        #expect(files[1].count > image.size.area * 3)
        #expect(files[2].count < image.size.area * 3 && files[3].count < image.size.area * 3)
        for file in files { #expect(try decode(file).pixels == image) }
    }

    @Test(arguments: [0, 4])
    func losslessWebPIsExactAlsoWhereNothingIsSeen(effort: Int) throws {
        for image in [TestImage.noise(50, 40, seed: 3, isOpaque: false), TestImage.photo(50, 40)] {
            let file = try image.encoded(with: .webp(WebPOptions(isLossless: true, effort: effort)))
            #expect(Array(file[12..<16]) == Array("VP8L".utf8))
            #expect(try decode(file).pixels == image)
            if ReferenceDecoder.has("dwebp") { #expect(try ReferenceDecoder.decodeWebP(file) == image.bytes) }
        }
    }

    @Test func effortMakesWebPSmaller() throws {
        let image = TestImage.photo(160, 120)
        for isLossless in [false, true] {
            let files = try [0, 6].map {
                try image.encoded(with: .webp(WebPOptions(isLossless: isLossless, effort: $0)))
            }
            #expect(files[1].count < files[0].count)
        }
    }

    @Test func webpAlphaCanBeLossy() throws {
        let image = TestImage.noise(120, 80, seed: 4, isOpaque: false)
        let exact = try image.encoded(as: .webp)
        let lossy = try image.encoded(with: .webp(WebPOptions(alphaQuality: 10)))
        #expect(lossy.count < exact.count)
        func alpha(_ pixels: PixelBuffer) -> [UInt8] {
            stride(from: 3, to: pixels.bytes.count, by: 4).map { pixels.bytes[$0] }
        }
        #expect(try alpha(decode(exact).pixels) == alpha(image))
        #expect(try alpha(decode(lossy).pixels) != alpha(image))
    }

    @Test(arguments: [2, 3, 16, 256])
    func gifHasAtMostTheGivenNumberOfColors(count: Int) throws {
        for hasAlpha in [false, true] {
            var image = TestImage.photo(60, 40)
            if hasAlpha { for pixel in 0..<60 { image.bytes[pixel * 4 + 3] = 0 } }
            let pixels = try decode(image.encoded(with: .gif(GIFOptions(maximumColors: count)))).pixels
            let colors = Set(stride(from: 0, to: pixels.bytes.count, by: 4).map { Array(pixels.bytes[$0..<$0 + 4]) })
            #expect(colors.count <= count)
            #expect(colors.count > count / 2)
            #expect(pixels.isOpaque == !hasAlpha)
        }
    }

    private func animation(_ frames: [PixelBuffer], _ options: EncodeOptions) throws -> [UInt8] {
        let encoder = try AnimationEncoder(options: options, size: frames[0].size)
        for frame in frames { try encoder.append(frame, delay: .milliseconds(100)) }
        return try encoder.finish()
    }

    @Test(arguments: [0, 1, 3, nil])
    func anAPNGHasAlphaOnlyIfAFrameHas(transparentFrame: Int?) throws {
        var frames = try TestImages.wanderingSquare(4)
        if let transparentFrame { frames[transparentFrame].bytes[3] = 100 }
        let file = try animation(frames, .png())
        #expect(form(file) == [transparentFrame == nil ? 2 : 6, 8])
        #expect(try AnimatedImage(file).allFrames() == frames)
    }

    @Test func losslessAnimationsAreExact() throws {
        let frames = (1...3).map { TestImage.photo(40, 30, seed: UInt64($0)) }
        let file = try animation(frames, .webp(WebPOptions(isLossless: true)))
        #expect(try AnimatedImage(file).allFrames() == frames)
    }
}

extension [UInt8] {
    /// The pixel of a shade of gray.
    fileprivate init(_ gray: Int, alpha: UInt8) {
        let gray = UInt8(gray)
        self = [gray, gray, gray, alpha]
    }
}
