#if AVIF
import ImageCodecs
import ImageEncoders
import ImageFormatAVIF
import ImageTestSupport
import Testing

/// Files of libavif's own encoder, against its own decoder.
@Suite(.enabled(if: ReferenceDecoder.has("avifenc") && ReferenceDecoder.has("avifdec"), "without avifenc and avifdec"))
struct AVIFConformanceTests {
    private static let fast = "--speed 9 --jobs 1 "

    private static func png(_ image: PixelBuffer) throws -> [UInt8] { try image.encoded(as: .png) }

    /// Returns the file that `avifenc` makes of `images`.
    private static func file(_ images: [PixelBuffer], _ options: String) throws -> [UInt8] {
        try ReferenceDecoder.convert(
            try images.map(png), with: "avifenc", fast + options, from: "png", to: "avif")
    }

    /// Returns the pixels that `avifdec` decodes, which are neither turned nor converted to sRGB.
    private static func reference(_ file: [UInt8], frame: Int = 0, bits: Int = 8) throws -> PixelBuffer {
        let png = try ReferenceDecoder.convert(
            [file], with: "avifdec", "--jobs 1 --index \(frame) -d \(bits)", from: "avif", to: "png")
        return try StreamingDecoder.decode(png.span, options: options(bits)).pixels
    }

    private static func options(_ bits: Int) -> DecodeOptions {
        DecodeOptions(ignoresOrientation: true, keepsProfile: true, pixelFormat: bits == 16 ? .rgba16 : .rgba8)
    }

    @Test(
        arguments: [
            "", "-l", "-y 444", "-y 422", "-y 420", "-y 400", "-r limited -y 420", "-r limited -y 444", "-d 10",
            "-d 12 -y 422",
            "-d 10 -y 420 -r limited", "--premultiply", "--cicp 1/13/1", "--cicp 9/1/9", "--cicp 12/13/6",
            "--irot 1", "--imir 0", "--irot 3 --imir 1", "--grid 2x2", "--grid 3x2 -y 420", "--min 40 --max 50",
            "--tilerowslog2 1 --tilecolslog2 1", "--codec aom -a tune=ssim", "--codec rav1e", "--codec svt -y 420",
        ], [true, false])
    func stillImageHasThePixelsOfTheReference(options: String, isOpaque: Bool) throws {
        // Each cell of a grid has at least 64 pixels on each side.
        let image = try TestImages.photo(width: 192, height: 144, hasAlpha: !isOpaque)
        guard !(options.contains("svt") || options.contains("rav1e")) || isOpaque else { return }
        let file = try Self.file([image], options)
        let bits = options.contains("-d 1") ? 16 : 8
        let decoded = try StreamingDecoder.decode(
            file.span, options: Self.options(bits), customFormats: [AVIFFormat()])
        #expect(try decoded.pixels == Self.reference(file, bits: bits))
        if options == "-l" { #expect(decoded.pixels == image) }
        #expect(decoded.header.size == image.size && decoded.header.hasAlpha == !isOpaque)
    }

    @Test(arguments: [(1, 1), (2, 3), (17, 5), (65, 33)]) func oddSizesAreDecoded(width: Int, height: Int) throws {
        for layout in ["444", "422", "420"] {
            let image = TestImage.photo(width, height)
            let file = try Self.file([image], "-y \(layout)")
            let decoded = try StreamingDecoder.decode(
                file.span, options: Self.options(8), customFormats: [AVIFFormat()])
            #expect(try decoded.pixels == Self.reference(file))
        }
    }

    @Test func framesOfASequenceAreThoseOfTheReference() throws {
        let frames = try TestImages.wanderingSquare(4)
        let file = try Self.file(frames, "--fps 5")
        let image = try AnimatedImage(file, customFormats: [AVIFFormat()])
        #expect(image.delays == Array(repeating: .milliseconds(200), count: 4))
        for (index, frame) in try image.allFrames().enumerated() {
            #expect(try frame == Self.reference(file, frame: index))
        }
    }
}
#endif
