#if TIFF
import CTIFF
import ImageCodecs
import ImageEncoders
import ImageFormatTIFF
import ImageTestSupport
import Testing

/// Files that are made to exhaust memory or time, or that are incomplete inside a strip or tile.
struct TIFFDamageTests {
    private static let formats: [any CustomFormat] = [TIFFFormat()]

    private func decode(_ file: [UInt8], _ options: DecodeOptions = DecodeOptions()) throws(CodecError) -> DecodedImage
    {
        try StreamingDecoder.decode(
            file.span, options: options, limits: DecodeLimits(maximumPixels: 1 << 30, maximumSide: 1 << 30),
            customFormats: Self.formats)
    }

    private func memoryUsage(_ test: TestTIFF) throws -> Int {
        let file = try test.file()
        return try TIFFFormat().header(of: file.span).unwrapped().memoryUsage
    }

    @Test func tagsThatShareDataAreRefused() throws {
        var test = TestTIFF(mode: "wl")
        test.profile = TestProfile.bytes("RGB ")
        let sound = try test.file()
        let directory = sound.number(at: 4, length: 4)
        let entries = sound[directory + 2..<directory + 2 + sound.number(at: directory, length: 2) * 12]
        let size = sound.count / 4
        for (tagCount, isRefused) in [(1, false), (8, true)] {
            // Unknown tags of all of the file's first quarter.
            var unknown: [UInt8] = []
            for tag in 0..<tagCount {
                unknown += UInt16(50_000 + tag).littleEndianBytes + UInt16(7).littleEndianBytes
                unknown += UInt32(size).littleEndianBytes + [0, 0, 0, 0]
            }
            var file = sound + (sound.count % 2 == 0 ? [] : [0])
            file.replaceSubrange(4..<8, with: UInt32(file.count).littleEndianBytes)
            file += UInt16(entries.count / 12 + tagCount).littleEndianBytes + entries + unknown + [0, 0, 0, 0]
            let metadata = ImageMetadata(file: file.span, customFormats: Self.formats)
            #expect((metadata.colorProfile == nil) == isRefused)
            if isRefused {
                #expect(throws: CodecError.corrupt(.tiff, "its tags overlap")) { _ = try decode(file) }
            } else {
                #expect(try decode(file).pixels == decode(sound).pixels)
            }
        }
    }

    @Test func memoryOfTagsIsCounted() throws {
        var test = TestTIFF()
        let plain = try memoryUsage(test)
        test.profile = TestProfile.bytes("RGB ")
        #expect(try memoryUsage(test) >= plain + 3 * test.profile.count)
    }

    @Test func memoryOfEachPlaneIsCounted() throws {
        var test = TestTIFF(compression: COMPRESSION_JPEG)
        #expect(try memoryUsage(test) < 24 << 20)
        test.isPlanar = true
        #expect(try memoryUsage(test) >= 36 << 20)
        test.tile = PixelSize(width: 16, height: 16)
        #expect(try memoryUsage(test) < 24 << 20)
    }

    @Test func largeJPEGWithSeveralScansIsRefused() throws {
        for (marker, channels, scanned) in [(0xC2, 1, 1), (0xCA, 1, 1), (0xC0, 3, 1)] as [(UInt8, UInt8, UInt8)] {
            // Preceded by a comment, and by bytes that libjpeg skips.
            var jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 0xFF, 0xDA, 9, 0xFF, 0]
            jpeg += [0xFF, 0xFF, marker, 0, 8 + 3 * channels, 8, 0x0F, 0xA0, 0x0F, 0xA0, channels]
            for channel in 0..<channels { jpeg += [channel, 0x11, 0] }
            jpeg += [0xFF, 0xDA, 0, 6 + 2 * scanned, scanned]
            for channel in 0..<scanned { jpeg += [channel, 0] }
            jpeg += [0, 63, 0, 0xFF, 0xD9]
            let file = jpegFile(jpeg, size: PixelSize(width: 4_000, height: 4_000), channels: channels)
            #expect(throws: CodecError.unsupportedFeature(.tiff, "a JPEG with several scans")) { _ = try decode(file) }
            // More than the strip contains.
            let flat = jpegFile(jpeg, size: PixelSize(width: 4_000, height: 8), channels: channels)
            let message = "a JPEG of 4000x4000 pixels in a strip or tile of 4000x8"
            #expect(throws: CodecError.corrupt(.tiff, message)) { _ = try decode(flat) }
        }
    }

    @Test func smallProgressiveJPEGIsDecoded() throws {
        let size = PixelSize(width: 40, height: 30)
        let source = try decode(TestTIFF(size: size).file()).pixels
        let jpeg = try source.encoded(as: .jpeg, isProgressive: true)
        let file = jpegFile(jpeg, size: size, channels: 3, photometric: PHOTOMETRIC_YCBCR)
        #expect(try decode(file).pixels.bytes == TestTIFF.reference(file))
    }

    @Test(arguments: [false, true]) func rowsBeforeTheEndOfJPEGDataAreKept(isTiled: Bool) throws {
        let size = PixelSize(width: 64, height: 128)
        var test = TestTIFF(
            size: size, channels: 1, photometric: PHOTOMETRIC_MINISBLACK, compression: COMPRESSION_JPEG,
            rowsPerStrip: 128, tile: isTiled ? PixelSize(width: 64, height: 128) : nil, mode: "wl")
        test.sample = { x, y, _ in (x * 37 ^ y * 101) * 7 }
        let sound = try test.file()
        let tag = isTiled ? TIFFTAG_TILEBYTECOUNTS : TIFFTAG_STRIPBYTECOUNTS
        let count = sound.number(at: try sound.placeOfTag(tag).unwrapped(), length: 4)
        let file = sound.replacingTag(tag, by: UInt32(count / 2))
        #expect(throws: CodecError.truncated(.tiff)) { _ = try decode(file) }
        guard !isTiled else { return }
        let partial = try decode(file, DecodeOptions(allowsPartial: true))
        #expect(partial.isPartial && (16...96).contains(partial.completeRows))
    }

    @Test func tablesWithoutTheirEndAreHarmless() throws {
        let sound = try TestTIFF(compression: COMPRESSION_JPEG, mode: "wl").file()
        let place = try sound.placeOfTag(TIFFTAG_JPEGTABLES).unwrapped()
        var file = sound
        file.replaceSubrange(
            place - 4..<place, with: UInt32(sound.number(at: place - 4, length: 4) - 2).littleEndianBytes)
        #expect(try decode(file).pixels == decode(sound).pixels)
    }

    @Test(arguments: [COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4])
    func damagedFaxIsAnErrorAfterItsSoundRows(compression: Int32) throws {
        let test = TestTIFF(
            bits: 1, channels: 1, photometric: PHOTOMETRIC_MINISWHITE, compression: compression, rowsPerStrip: 37,
            mode: "wlB")
        let sound = try test.file()
        let start = sound.number(at: try sound.placeOfTag(TIFFTAG_STRIPOFFSETS).unwrapped(), length: 4)
        let count = sound.number(at: try sound.placeOfTag(TIFFTAG_STRIPBYTECOUNTS).unwrapped(), length: 4)
        // An invalid code in the middle; the end of the data in place of the second half.
        var damaged = sound
        for place in start + count / 2..<start + count / 2 + 6 { damaged[place] = 0 }
        let short = sound.replacingTag(TIFFTAG_STRIPBYTECOUNTS, by: UInt32(count / 2))
        // In the older code, the invalid one only fills its row.
        for file in compression == COMPRESSION_CCITTFAX4 ? [damaged, short] : [short] {
            #expect(throws: CodecError.self) { _ = try decode(file) }
            let partial = try decode(file, DecodeOptions(allowsPartial: true))
            #expect(partial.isPartial && (4...33).contains(partial.completeRows))
        }
    }

    @Test func manyPiecesWithReversedBitsAreRefused() throws {
        let file = try TestTIFF(
            size: PixelSize(width: 1, height: 8), rowsPerStrip: 1, mode: "wl",
            tags: [(TIFFTAG_FILLORDER, UInt32(FILLORDER_LSB2MSB))]
        ).file().replacingTag(TIFFTAG_IMAGELENGTH, by: 1_000_000)
        let message = "so many strips or tiles with reversed bits"
        #expect(throws: CodecError.unsupportedFeature(.tiff, message)) {
            _ = try decode(file + [UInt8](repeating: 0, count: 20_000))
        }
    }

    @Test func tileMuchLargerThanTheImageIsRefused() throws {
        let side: UInt32 = 16_384
        let file = try TestTIFF(tile: PixelSize(width: 48, height: 48), mode: "wl").file()
            .replacingTag(TIFFTAG_TILEWIDTH, by: side).replacingTag(TIFFTAG_TILELENGTH, by: side)
        let message = "strips or tiles that decode to \(side * side * 3) bytes"
        #expect(throws: CodecError.unsupportedFeature(.tiff, message)) { _ = try decode(file) }
    }

    @Test func missingTileThatIsNotTheFirstIsTruncation() throws {
        var file = try TestTIFF(
            photometric: PHOTOMETRIC_CIELAB, tile: PixelSize(width: 16, height: 16), mode: "wl"
        ).file()
        let places = try file.number(at: file.placeOfTag(TIFFTAG_TILEOFFSETS).unwrapped(), length: 4)
        file.replaceSubrange(places + 4..<places + 8, with: UInt32(file.count - 10).littleEndianBytes)
        #expect(throws: CodecError.truncated(.tiff)) { _ = try decode(file) }
    }

    @Test(arguments: [COMPRESSION_OJPEG, COMPRESSION_THUNDERSCAN])
    func oldCompressionsAreNamed(compression: Int32) throws {
        let file = try TestTIFF(mode: "wl").file().replacingTag(TIFFTAG_COMPRESSION, by: UInt32(compression))
        #expect(throws: CodecError.unsupportedFeature(.tiff, "compression \(compression)")) { _ = try decode(file) }
    }

    /// Returns a file whose only strip is `jpeg`.
    private func jpegFile(
        _ jpeg: [UInt8], size: PixelSize, channels: UInt8, photometric: Int32? = nil
    ) -> [UInt8] {
        let tags: [(Int32, Int)] = [
            (TIFFTAG_IMAGEWIDTH, size.width), (TIFFTAG_IMAGELENGTH, size.height),
            (TIFFTAG_COMPRESSION, Int(COMPRESSION_JPEG)),
            (TIFFTAG_PHOTOMETRIC, Int(photometric ?? (channels == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB))),
            (TIFFTAG_STRIPOFFSETS, 8), (TIFFTAG_SAMPLESPERPIXEL, Int(channels)),
            (TIFFTAG_ROWSPERSTRIP, size.height), (TIFFTAG_STRIPBYTECOUNTS, jpeg.count),
        ]
        let bits = 8 + jpeg.count
        var file = Array("II*\0".utf8) + UInt32(bits + 6).littleEndianBytes + jpeg + [8, 0, 8, 0, 8, 0]
        file += UInt16(tags.count + 1).littleEndianBytes
        for (index, (tag, value)) in tags.enumerated() {
            if index == 2 {
                file += UInt16(TIFFTAG_BITSPERSAMPLE).littleEndianBytes + UInt16(3).littleEndianBytes
                file += UInt32(channels).littleEndianBytes + UInt32(channels == 1 ? 8 : bits).littleEndianBytes
            }
            file += UInt16(tag).littleEndianBytes + UInt16(4).littleEndianBytes + UInt32(1).littleEndianBytes
            file += UInt32(value).littleEndianBytes
        }
        return file + [0, 0, 0, 0]
    }
}

extension FixedWidthInteger {
    fileprivate var littleEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
    }
}
#endif
