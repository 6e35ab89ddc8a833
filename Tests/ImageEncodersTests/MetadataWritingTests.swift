import ImageCodecs
import ImageTestSupport
import Testing

@testable import ImageEncoders

struct MetadataWritingTests {
    static let formats: [ImageFormat] = [.jpeg, .png, .webp]

    private func metadata(profileBytes: Int = 300, orientation: UInt8 = 6) -> ImageMetadata {
        ImageMetadata(
            colorProfile: TestProfile.bytes("RGB ", count: profileBytes),
            exif: TestExif.bytes(orientation: orientation))
    }

    private func read(_ file: [UInt8]) -> ImageMetadata { ImageMetadata(file: file.span) }

    @Test(arguments: formats, [132, 65_519, 65_520, 200_001])
    func embeddedMetadataIsReadBack(format: ImageFormat, profileBytes: Int) throws {
        let metadata = metadata(profileBytes: profileBytes)
        let image = TestImage.photo(40, 30)
        let file = try image.encoded(with: try EncodeOptions(format), metadata: metadata)
        #expect(read(file) == metadata)
        #expect(try decode(file).header.orientation == .right)
        #expect(try probe(file)?.colorProfile == "unnamed" || format == .png)
        let plain = try image.encoded(as: format)
        #expect(try decode(file).pixels.size == PixelSize(width: 30, height: 40))
        #expect(
            try decode(file, options: DecodeOptions(ignoresOrientation: true)).pixels == decode(plain).pixels)
        #expect(read(plain).isEmpty)
    }

    @Test(arguments: formats)
    func profileAndExifCanBeWrittenSeparately(format: ImageFormat) throws {
        let both = metadata()
        let image = TestImage.photo(9, 8)
        for part in [ImageMetadata(colorProfile: both.colorProfile), ImageMetadata(exif: both.exif)] {
            #expect(read(try image.encoded(with: try EncodeOptions(format), metadata: part)) == part)
        }
    }

    @Test(arguments: [ImageFormat.png, .webp])
    func animationsKeepMetadata(format: ImageFormat) throws {
        let encoder = try AnimationEncoder(
            options: try EncodeOptions(format), size: PixelSize(width: 20, height: 10), metadata: metadata())
        for seed in 1...3 { try encoder.append(TestImage.photo(20, 10, seed: UInt64(seed)), delay: .seconds(1)) }
        let file = try encoder.finish()
        #expect(read(file) == metadata())
        #expect(try AnimatedImage(file).frameCount == 3)
    }

    @Test func referenceDecodersAcceptFilesWithMetadata() throws {
        let image = TestImage.photo(40, 30)
        if ReferenceDecoder.has("djpeg") {
            let file = try image.encoded(with: .jpeg(), metadata: metadata(profileBytes: 150_000))
            #expect(try ReferenceDecoder.decodeJPEG(file).rgb == decode(image.encoded(as: .jpeg)).pixels.rgb)
        }
        if ReferenceDecoder.has("dwebp") {
            let file = try image.encoded(with: .webp(), metadata: metadata(orientation: 1))
            #expect(try ReferenceDecoder.decodeWebP(file) == decode(file).pixels.bytes)
        }
    }

    @Test func longJPEGProfileIsSplitIntoSegments() throws {
        let segments = try metadata(profileBytes: 65_519 * 2 + 1).jpegSegments(isGray: false)
        #expect(segments.map(\.marker) == [0xE1, 0xE2, 0xE2, 0xE2])
        #expect(segments.map(\.content.count).dropFirst() == [65_533, 65_533, 15])
        #expect(segments.dropFirst().map { Array($0.content[12..<14]) } == [[1, 3], [2, 3], [3, 3]])
    }

    @Test func oversizedMetadataIsRejected() throws {
        let image = TestImage.photo(4, 4)
        let exif = TestExif.bytes(orientation: 1)
        var long = ImageMetadata(exif: exif + [UInt8](repeating: 0, count: 65_527 - exif.count))
        #expect(try read(image.encoded(with: .jpeg(), metadata: long)) == long)
        long.exif?.append(0)
        #expect(throws: CodecError.encodingFailed(.jpeg, "Exif data of 65528 bytes exceeds the limit of 65527")) {
            try image.encoded(with: .jpeg(), metadata: long)
        }
        #expect(try read(image.encoded(with: .png(), metadata: long)) == long)
        let profile = ImageMetadata(colorProfile: [UInt8](repeating: 0, count: ImageMetadata.maximumBytes + 1))
        for format in Self.formats {
            #expect(throws: CodecError.self) { try image.encoded(with: try EncodeOptions(format), metadata: profile) }
        }
    }

    @Test func profileIsWrittenOnlyForItsColorModel() throws {
        let (gray, photo) = (TestImage.gray(20, 20), TestImage.photo(20, 20))
        let rgb = ImageMetadata(colorProfile: TestProfile.bytes("RGB "))
        let grayProfile = ImageMetadata(colorProfile: TestProfile.bytes("GRAY"))
        let cmyk = ImageMetadata(colorProfile: TestProfile.bytes("CMYK"))
        for options in [EncodeOptions.jpeg(), .png()] {
            #expect(try read(gray.encoded(with: options, metadata: grayProfile)) == grayProfile)
            #expect(try read(photo.encoded(with: options, metadata: grayProfile)).isEmpty)
            let file = try gray.encoded(with: options, metadata: rgb)
            #expect(read(file) == rgb)
            #expect(try probe(file)?.colorChannels == (options.format == .png ? 1 : 3))  // indexed
        }
        for format in Self.formats {
            #expect(try read(photo.encoded(with: try EncodeOptions(format), metadata: cmyk)).isEmpty)
        }
        #expect(try read(gray.encoded(with: .webp(), metadata: grayProfile)).isEmpty)
        #expect(try read(photo.encoded(with: .gif(), metadata: rgb)).isEmpty)
    }
}
