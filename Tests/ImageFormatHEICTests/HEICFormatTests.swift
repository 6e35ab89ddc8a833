#if HEIC
import ImageCodecs
import ImageEncoders
import ImageFormatHEIC
import ImageTestSupport
import Testing

@Suite(.enabled(if: TestHEIC.isAvailable, "without heif-enc and heif-convert"))
struct HEICFormatTests {
    @Test(
        arguments: [
            "-q 50", "-q 90 -p chroma=422", "-q 90 -p chroma=444", "-L -p chroma=444 --matrix_coefficients=0",
            "--full_range_flag 0", "--matrix_coefficients 1", "--colour_primaries 12", "-t 32",
        ], [true, false])
    func pixelsAreThoseOfTheReference(options: String, isOpaque: Bool) throws {
        let image = try TestImages.photo(width: 90, height: 70, hasAlpha: !isOpaque)
        let file = try TestHEIC.file(image, options)
        let decoded = try TestHEIC.decode(file, TestHEIC.options(false))
        #expect(try decoded.pixels == TestHEIC.reference(file))
        #expect(decoded.header.format == .heic && decoded.header.frameCount == 1)
        #expect(decoded.header.hasAlpha == !isOpaque && decoded.header.bitsPerChannel == 8)
    }

    @Test(arguments: [10, 12], [true, false])
    func deepPixelsAreThoseOfTheReference(bits: Int, isOpaque: Bool) throws {
        let image = try TestImages.photo(width: 64, height: 50, hasAlpha: !isOpaque).converted(to: .rgba16)
        let file = try TestHEIC.file(image, "-q 90 -b \(bits)")
        let decoded = try TestHEIC.decode(file, TestHEIC.options(true))
        let expected = try TestHEIC.reference(file, isDeep: true)
        #expect(decoded.header.bitsPerChannel == bits && decoded.pixels.size == expected.size)
        // The reference fills the low bits with zeros.
        let (samples, others) = (decoded.pixels.samples, expected.samples)
        #expect(zip(samples, others).allSatisfy { $0 >> UInt16(16 - bits) == $1 >> UInt16(16 - bits) })
    }

    @Test(arguments: [(1, 1), (2, 3), (17, 5), (65, 33)]) func oddSizesAreDecoded(width: Int, height: Int) throws {
        let file = try TestHEIC.file(TestImage.photo(width, height))
        let decoded = try TestHEIC.decode(file, TestHEIC.options(false)).pixels
        #expect(decoded.size == PixelSize(width: width, height: height))
        #expect(try decoded == TestHEIC.reference(file))
    }

    @Test func fileIsDecodedHoweverItArrives() throws {
        let image = try TestImages.photo(width: 9, height: 7, hasAlpha: true)
        let file = try TestHEIC.file(image)
        let expected = try TestHEIC.decode(file).pixels
        let splits = stride(from: 1, to: file.count, by: 7).map { [0..<$0, $0..<file.count] }
        for pieces in splits + [file.indices.map { $0..<$0 + 1 }] {
            let decoder = StreamingDecoder(customFormats: [HEICFormat()])
            for piece in pieces { try append(file, piece, to: decoder) }
            #expect(try decoder.finish().pixels == expected)
        }
    }

    @Test(arguments: 0..<4 as Range<UInt8>, [nil, 0, 1] as [UInt8?])
    func rotationAndReflectionAreAppliedOnce(turns: UInt8, mirror: UInt8?) throws {
        let tiles = (1...2).map { TestImage.photo(64, 64, seed: $0) }
        let size = PixelSize(width: 120, height: 60)
        let mirrors: [TestHEIC.Property] = mirror.map { [("imir", [$0])] } ?? []
        let file = try TestHEIC.grid(tiles, columns: 2, size: size, [("irot", [turns])] + mirrors)
        let decoded = try TestHEIC.decode(file)
        #expect(decoded.pixels.width == (turns % 2 == 0 ? 120 : 60) && decoded.header.orientation == .up)
        #expect(try decoded.pixels == TestHEIC.reference(file))
    }

    @Test func exifDataIsReadAndItsOrientationNotApplied() throws {
        let exif = TestExif.bytes(orientation: 6)
        let jpeg = try TestImage.photo(48, 32).encoded(with: .jpeg(), metadata: ImageMetadata(exif: exif))
        let file = try TestHEIC.file(jpeg, from: "jpg")
        #expect(ImageMetadata(file: file.span, customFormats: [HEICFormat()]).exif == exif)
        let decoded = try TestHEIC.decode(file)
        #expect(decoded.pixels.width == 48)
    }

    @Test func gridIsOneImage() throws {
        let tiles = (1...6).map { TestImage.photo(64, 64, seed: $0) }
        let size = PixelSize(width: 120, height: 150)
        let file = try TestHEIC.grid(tiles, columns: 2, size: size)
        let decoded = try TestHEIC.decode(file)
        #expect(decoded.pixels.size == size)
        #expect(try decoded.pixels == TestHEIC.reference(file))
    }

    @Test func thumbnailIsDecodedIfItSuffices() throws {
        let file = try TestHEIC.file(TestImage.photo(300, 200), "-q 80 -t 60")
        let format = HEICFormat()
        let found = try format.header(of: file.span)
        let header = try #require(found)
        #expect(format.rowSize(of: header, for: PixelSize(width: 60, height: 40)) == PixelSize(width: 60, height: 40))
        #expect(format.rowSize(of: header, for: PixelSize(width: 61, height: 40)) == header.size)
        let small = try TestHEIC.decode(file, DecodeOptions(target: .maximumSide(60)))
        let large = try TestHEIC.decode(file).pixels
        #expect(small.pixels.size == PixelSize(width: 60, height: 40))
        #expect(small.originalSize == large.size)
        let whole = try large.encoded(as: .png)
        let scaled = try StreamingDecoder.decode(
            whole.span, options: DecodeOptions(target: .maximumSide(60))
        ).pixels
        let difference = zip(small.pixels.bytes, scaled.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(difference / small.pixels.bytes.count < 12)
    }

    @Test func gainMapIsReported() throws {
        let file = try TestHEIC.file(TestImage.photo(64, 48))
        let plain = try TestHEIC.decode(file)
        #expect(!plain.header.hasGainMap)
        let apple = "urn:com:apple:photo:2020:aux:"
        for changed in [
            try TestItems.adding(item: "tmap", to: file),
            try TestItems.adding(auxiliaryType: apple + "hdrgainmap", to: file),
        ] {
            let image = try TestHEIC.decode(changed)
            #expect(image.header.hasGainMap && image.pixels == plain.pixels)
        }
        let matte = try TestItems.adding(auxiliaryType: apple + "portraiteffectsmatte", to: file)
        #expect(try !TestHEIC.decode(matte).header.hasGainMap)
    }

    @Test(
        arguments: [
            (1, 13, .unneeded, nil), (2, 2, .unneeded, nil), (12, 13, .converted, "Display P3"),
            (9, 1, .converted, "BT.2020"), (9, 16, .converted, "BT.2020 PQ"), (9, 18, .converted, "BT.2020 HLG"),
            (9, 17, .unsupported, nil),
        ] as [(Int, Int, ColorConversion, String?)])
    func codePointsDecideTheConversion(
        primaries: Int, transfer: Int, conversion: ColorConversion, name: String?
    ) throws {
        let colors = TestHEIC.colors(primaries: primaries, transfer: transfer)
        let file = try TestHEIC.grid(
            [TestImage.photo(64, 64)], columns: 1, size: PixelSize(width: 64, height: 64), [colors])
        let decoded = try TestHEIC.decode(file)
        #expect(decoded.header.colorConversion == conversion)
        #expect(decoded.header.colorProfile == name)
        let isSame = try decoded.pixels == TestHEIC.reference(file)
        #expect(isSame == (conversion != .converted))
    }

    @Test func profileIsRead() throws {
        let profile = TestProfile.bytes("RGB ")
        let size = PixelSize(width: 64, height: 64)
        let file = try TestHEIC.grid([TestImage.photo(64, 64)], columns: 1, size: size, [TestHEIC.profile(profile)])
        #expect(ImageMetadata(file: file.span, customFormats: [HEICFormat()]).colorProfile == profile)
    }

    @Test func limitsAreCheckedBeforeDecoding() throws {
        let file = try TestHEIC.file(TestImage.photo(40, 30))
        #expect(throws: CodecError.overLimit(.pixels, value: 1_200, limit: 1_199)) {
            try TestHEIC.decode(file, limits: DecodeLimits(maximumPixels: 1_199))
        }
        #expect(throws: CodecError.overLimit(.side, value: 40, limit: 39)) {
            try TestHEIC.decode(file, limits: DecodeLimits(maximumSide: 39))
        }
    }

    @Test func imageThatIsLargerThanDeclaredIsCorrupt() throws {
        var file = try TestHEIC.file(TestImage.photo(640, 640))
        for position in file.indices where file.span.has("ispe", at: position) {
            for offset in [10, 11, 14, 15] { file[position + offset] = offset % 4 == 3 ? 8 : 0 }
        }
        let error = #expect(throws: CodecError.self) { try TestHEIC.decode(file) }
        #expect(error?.description.contains("larger than the file declares") == true)
    }

    @Test(arguments: [0, 1] as [UInt8]) func tilesThatAreLargerThanTheGridAreCorrupt(version: UInt8) throws {
        var file = try TestHEIC.grid(
            [TestImage.photo(512, 512)], columns: 1, size: PixelSize(width: 250, height: 250))
        let grid = try file.indices.last { file.span.has("mdat", at: $0) }.unwrapped() + 4
        file.replaceSubrange(grid..<grid + 4, with: [version, 0, 249, 249])
        let error = #expect(throws: CodecError.self) { try TestHEIC.decode(file) }
        #expect(error?.description.contains("tiles that are larger than the file declares") == true)
    }

    @Test func gridOfGridsIsUnsupported() throws {
        var file = try TestHEIC.grid([TestImage.photo(64, 64)], columns: 1, size: PixelSize(width: 64, height: 64))
        let type = try file.indices.first { file.span.has("hvc1", at: $0) }.unwrapped()
        file.replaceSubrange(type..<type + 4, with: Array("grid".utf8))
        #expect(throws: CodecError.unsupportedFeature(.heic, "grids of derived images")) {
            try TestHEIC.decode(file)
        }
    }

    @Test func secondTableOfItemsIsCorrupt() throws {
        let file = try TestHEIC.grid([TestImage.photo(64, 64)], columns: 1, size: PixelSize(width: 64, height: 64))
        let start = try file.indices.first { file.span.has("meta", at: $0) }.unwrapped() - 4
        let table = file[start..<start + (file.span.bigEndian32(at: start) ?? 0)]
        #expect(throws: CodecError.corrupt(.heic, "several tables of items")) { try TestHEIC.decode(file + table) }
    }

    @Test func configurationsThatOverlapAreCorrupt() throws {
        // Each is within the one before it, and contains a unit of 17,152 bytes.
        let boxes = (0..<200).flatMap { _ -> [UInt8] in [0, 1, 0, 0] + Array("hvcC".utf8) }
        let profile = TestHEIC.profile(boxes + [UInt8](repeating: 0, count: 70_000))
        let file = try TestHEIC.grid(
            [TestImage.photo(64, 64)], columns: 1, size: PixelSize(width: 64, height: 64), [profile])
        #expect(throws: CodecError.corrupt(.heic, "its configurations overlap")) { try TestHEIC.decode(file) }
    }

    @Test func itemInManyPartsIsCorrupt() throws {
        var file = try TestHEIC.grid([TestImage.photo(64, 64)], columns: 1, size: PixelSize(width: 64, height: 64))
        let table = try file.indices.first { file.span.has("iloc", at: $0) }.unwrapped()
        // Without offsets and lengths, parts take no bytes.
        file.replaceSubrange(table + 8..<table + 10, with: [0, 0])
        file.replaceSubrange(table + 16..<table + 18, with: [255, 255])
        let error = #expect(throws: CodecError.self) { try TestHEIC.decode(file) }
        guard case .corrupt = error else { return #expect(Bool(false), "\(String(describing: error))") }
    }

    @Test func thumbnailIsChargedAsTheImage() throws {
        var header = ImageHeader(format: .heic, size: PixelSize(width: 3_000, height: 2_000))
        header.smallerSizes = [PixelSize(width: 300, height: 200)]
        // Only the size of the image is compared with the coded ones.
        let needed = HEICFormat().workingBytes(of: header, rowSize: header.smallerSizes[0])
        #expect(needed > 8 * 3_064 * 2_064)
    }

    @Test func truncatedFileIsAnError() throws {
        let file = try TestHEIC.file(TestImage.photo(20, 10))
        for count in 0..<file.count {
            #expect(throws: CodecError.self, "\(count) bytes") { try TestHEIC.decode(Array(file.prefix(count))) }
        }
        #expect(throws: CodecError.truncated(.heic)) { try TestHEIC.decode(file.dropLast()) }
    }

    @Test func damagedFileGivesAnErrorOrAnImage() throws {
        let limits = DecodeLimits(maximumPixels: 1 << 16, maximumWork: 1 << 19)
        let image = try TestImages.photo(width: 20, height: 10, hasAlpha: true)
        let tile = TestImage.photo(64, 64)
        let grid = try TestHEIC.grid([tile, tile], columns: 2, size: PixelSize(width: 100, height: 60))
        let (alpha, thumbnail) = (try TestHEIC.file(image), try TestHEIC.file(TestImage.photo(60, 40), "-t 20"))
        for file in [alpha, thumbnail, grid] {
            for seed in 0..<400 as Range<UInt64> {
                var random = SeededGenerator(seed: seed)
                var damaged = file
                for _ in 0...seed % 3 {
                    damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                guard let image = try? TestHEIC.decode(damaged, limits: limits) else { continue }
                #expect(image.pixels.size.area <= limits.maximumPixels)
            }
        }
    }

    @Test func decodeStopsWhenItsTaskIsCanceled() async throws {
        let file = try TestHEIC.file(TestImage.photo(20, 10))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try TestHEIC.decode(file)
        }
        let result = await task.result
        #expect(throws: CodecError.cancelled(.heic)) { try result.get() }
    }
}

struct HEICBrandTests {
    @Test(
        arguments: [
            ("heic", "mif1", true), ("heix", "mif1", true), ("mif1", "heic", true), ("mif1", "miaf", true),
            ("mif1", "avif", false), ("avif", "mif1", false), ("avis", "msf1", false), ("isom", "mp42", false),
        ])
    func brandsDecideTheFormat(major: String, compatible: String, isHEIC: Bool) {
        let bytes = Array("\0\0\0\u{14}ftyp\(major)\0\0\0\0\(compatible)".utf8)
        let isRecognized = HEICFormat().recognizes(bytes.span)
        #expect(isRecognized == isHEIC)
    }

    @Test(arguments: ["avif", "heic"]) func formatIsUndecidedUntilAllBrandsAreThere(last: String) {
        let bytes = Array("\0\0\0\u{18}ftypmif1\0\0\0\0miaf\(last)".utf8)
        for count in 0..<bytes.count {
            let isRecognized = HEICFormat().recognizes(bytes.span.extracting(first: count))
            #expect(!isRecognized, "\(count) bytes")
        }
        let isRecognized = HEICFormat().recognizes(bytes.span)
        #expect(isRecognized == (last == "heic"))
    }
}

extension PixelBuffer {
    /// The samples of an image with 16 bits per channel.
    fileprivate var samples: [UInt16] {
        stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
    }
}
#endif
