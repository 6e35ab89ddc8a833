import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Small files of every kind, made by our encoders or by hand.
struct SmallFile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    private init(_ name: String, _ bytes: () throws -> [UInt8]) {
        testDescription = name
        // An empty file fails every test that is made of it.
        self.bytes = (try? bytes()) ?? []
    }

    /// Returns whether the first `length` bytes are a complete file: those of a GIF that end between two blocks, and
    /// those of a JPEG without its end marker.
    func isWhole(at length: Int) -> Bool {
        let beginning = Array(bytes.prefix(length))
        let format = ImageFormat(signature: beginning.span)
        if format == .jpeg { return length >= bytes.count - 2 }
        guard length < bytes.count, format == .gif else { return false }
        var blocks = GIFBlocks()
        while blocks.next(in: beginning.span) != nil {}
        return blocks.imageCount > 0 && blocks.isBetweenBlocks(at: length)
    }

    /// An ICC profile with a name.
    private static let profile: [UInt8] = {
        let tag = Array("desc".utf8) + [0, 0, 0, 0, 0, 0, 0, 5] + Array("sRGB".utf8) + [0]
        var head = [UInt8](repeating: 0, count: 128)
        head.replaceSubrange(36..<40, with: Array("acsp".utf8))
        return head + [0, 0, 0, 1] + Array("desc".utf8) + [0, 0, 0, 144, 0, 0, 0, UInt8(tag.count)] + tag
    }()

    static let jpeg: [SmallFile] = [
        SmallFile("baseline") { try TestImage.photo(17, 18).encoded(as: .jpeg, quality: 70, isProgressive: false) },
        SmallFile("progressive") { try TestImage.photo(17, 18).encoded(as: .jpeg, quality: 70, isProgressive: true) },
        SmallFile("CMYK") { TestScan(width: 20, height: 12, channels: 4).file() },
        SmallFile("restarts") { TestScan(width: 40, height: 12, restartInterval: 2).file() },
        SmallFile("metadata") {
            let exif = Array("Exif\0\0".utf8) + TestExif.bytes(orientation: 6)
            let icc = Array("ICC_PROFILE\0".utf8) + [1, 1] + profile
            return TestScan(
                width: 20, height: 9, channels: 1,
                segments: [TestScan.segment(0xE1, exif), TestScan.segment(0xE2, icc)]
            ).file()
        },
    ]

    static let bmp: [SmallFile] = [
        SmallFile("24 bits") { TestBMP.file(TestImage.photo(5, 4)) },
        SmallFile("masks") {
            TestBMP(
                width: 4, height: 3, bits: 16, compression: 3, headerLength: 124, masks: [0xF800, 0x7E0, 0x1F],
                data: [UInt8](repeating: 0x5A, count: 24)
            ).file()
        },
        SmallFile("runs") {
            TestBMP(
                width: 6, height: 4, bits: 8, compression: 1, palette: [[1, 2, 3], [4, 5, 6]],
                data: [3, 1, 0, 3, 0, 2, 3, 9, 0, 0, 1, 2, 0, 0, 0, 2, 1, 1, 2, 0, 0, 1]
            ).file()
        },
    ]

    static let ico: [SmallFile] = [
        SmallFile("bitmap") { TestICO.file([TestICO.entry(TestImage.noise(4, 4, seed: 1, isOpaque: false))]) },
        SmallFile("PNG") {
            let image = TestImage.photo(6, 6)
            return TestICO.file([TestICO.Entry(size: image.size, data: try image.encoded(as: .png))])
        },
    ]

    static let png: [SmallFile] = [
        SmallFile("RGBA") { try TestImages.photo(width: 9, height: 8, hasAlpha: true).encoded(as: .png) },
        SmallFile("interlaced") { TestPNG.interlaced(try TestImages.photo(width: 9, height: 9)) },
        SmallFile("1 bit gray") {
            TestPNG().file(
                TestPNG.Image(width: 9, height: 8, depth: 1, colorType: 0, samples: (0..<72).map { $0 % 3 & 1 }))
        },
        SmallFile("indexed, metadata") {
            let icc = Array("name\0".utf8) + [0] + profile
            return TestPNG(
                before: [
                    TestPNG.chunk("iCCP", icc), TestPNG.chunk("eXIf", TestExif.bytes(orientation: 3)),
                    TestPNG.chunk("PLTE", [255, 0, 0, 0, 255, 0, 0, 0, 255]), TestPNG.chunk("tRNS", [0, 128]),
                ]
            ).file(TestPNG.Image(width: 9, height: 8, depth: 2, colorType: 3, samples: (0..<72).map { $0 % 3 }))
        },
        SmallFile("16 bits, interlaced") {
            TestPNG(isInterlaced: true).file(
                TestPNG.Image(
                    width: 5, height: 6, depth: 16, colorType: 2, samples: (0..<90).map { $0 * 700 % 65_536 }))
        },
        SmallFile("animated") { try TestAnimation.file(.png, count: 3) },
    ]

    static let webp: [SmallFile] = [
        SmallFile("lossy") { try TestImages.photo(width: 17, height: 18).encoded(as: .webp, quality: 50) },
        SmallFile("lossy with alpha") {
            try TestImages.photo(width: 17, height: 18, hasAlpha: true).encoded(as: .webp, quality: 50)
        },
        SmallFile("animated, metadata") {
            try TestAnimation.webp(
                TestAnimation.layers(3, seed: 1, alphas: [0, 255]), exif: TestExif.bytes(orientation: 6))
        },
    ]

    static let gif: [SmallFile] = [
        SmallFile("still") { try TestImages.drawing(width: 19, height: 14).encoded(as: .gif) },
        SmallFile("interlaced") {
            TestGIF(width: 9, height: 17).file([
                TestGIF.Frame(
                    left: 1, top: 1, width: 8, height: 15, indices: (0..<120).map { UInt8($0 % 7 & 1) },
                    isInterlaced: true, transparentIndex: 0)
            ])
        },
        SmallFile("animated") { try TestAnimation.file(.gif, count: 3) },
    ]
}
