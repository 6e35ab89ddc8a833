import Foundation
import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite
struct WebPRowDecoderTests {
    @Test(
        .enabled(if: ReferenceDecoder.has("dwebp"), "dwebp is not installed"), arguments: [false, true],
        [(1, 1), (16, 16), (33, 47), (257, 130)])
    func pixelsEqualReferenceWebPDecoder(hasAlpha: Bool, size: (Int, Int)) throws {
        let image = try TestImages.photo(width: size.0, height: size.1, hasAlpha: hasAlpha)
        let file = try image.encoded(as: .webp, quality: 70)
        #expect(try decodeRows(file).bytes == ReferenceDecoder.decodeWebP(file))
    }

    @Test(arguments: [false, true])
    func webpDecodedByteByByteIsTheSame(hasAlpha: Bool) throws {
        let file = try TestImages.photo(width: 257, height: 130, hasAlpha: hasAlpha).encoded(as: .webp)
        #expect(try decodeRows(file, step: 1) == decodeRows(file))
        #expect(try decodeRows(file, step: 5000) == decodeRows(file))
    }

    @Test
    func opaqueWebPIsScaledByTheCodec() throws {
        let file = try TestImages.photo(width: 400, height: 300).encoded(as: .webp)
        let target = PixelSize(width: 50, height: 37)
        let decoded = try decodeRows(file, target: target)
        #expect(decoded.size == PixelSize(width: 100, height: 74))
        #expect(try decodeRows(file, target: target, step: 1) == decoded)
        // Smooth colors keep their positions: red increases to the right, green downward.
        let last = decoded.bytes.suffix(4)
        #expect(last.first.map { $0 > 150 } == true && decoded.bytes[0] < 50)
    }

    /// libwebp would multiply the colors by the alpha.
    @Test func losslessWebPWhoseHeaderHidesItsAlphaKeepsItsColorsWhenReduced() throws {
        let size = PixelSize(width: 90, height: 90)
        let pixels = try #require(PixelBuffer(size: size, bytes: (0..<size.area).flatMap { _ in [200, 100, 50, 1] }))
        var file = try pixels.encoded(with: .webp(WebPOptions(isLossless: true)))
        let chunk = try #require(file.indices.first { file[$0...].starts(with: Array("VP8L".utf8)) })
        file[chunk + 12] &= 0xEF
        let image = try StreamingDecoder.decode(file.span, options: DecodeOptions(target: .maximumSide(20)))
        #expect(image.pixels.isOpaque)
        #expect(image.pixels.bytes.prefix(4) == [200, 100, 50, 255])
    }

    @Test
    func webpWithAlphaIsNotScaledByTheCodec() throws {
        let file = try TestImages.photo(width: 400, height: 300, hasAlpha: true).encoded(as: .webp)
        let target = PixelSize(width: 50, height: 37)
        #expect(try decodeRows(file, target: target).size == PixelSize(width: 400, height: 300))
    }

    @Test
    func webpLessThanThreeTimesAsLargeAsTheTargetIsNotScaledByTheCodec() throws {
        let file = try TestImages.photo(width: 400, height: 300).encoded(as: .webp)
        let header = try #require(try ImageHeader.probe(file.span))
        #expect(
            WebPRowDecoder.rowSize(of: header, for: PixelSize(width: 133, height: 100))
                == PixelSize(width: 266, height: 200))
        #expect(WebPRowDecoder.rowSize(of: header, for: PixelSize(width: 134, height: 100)) == header.size)
        #expect(WebPRowDecoder.rowSize(of: header, for: PixelSize(width: 133, height: 101)) == header.size)
    }

    @Test
    func webpRowsAreDecodedWhileTheFileArrives() throws {
        let file = try TestImages.photo(width: 400, height: 600).encoded(as: .webp)
        let header = try #require(try ImageHeader.probe(file.span))
        let decoder = try WebPRowDecoder(header: header, rowSize: header.size, limits: DecodeLimits())
        let rows = RowCollector()
        try decoder.append(file.span.extracting(first: file.count / 2), to: rows)
        #expect((100..<500).contains(rows.rowCount))
    }

    @Test(arguments: [false, true])
    func webpExifAfterThePixelsIsReported(oneByteAtATime: Bool) throws {
        let simple = try TestImages.photo(width: 20, height: 10).encoded(as: .webp)
        let file = Self.extended(
            simple, flags: 0x08, width: 20, height: 10, after: Self.chunk("EXIF", TestExif.bytes(orientation: 8)))
        let decoded = try decodeRows(file, step: oneByteAtATime ? 1 : .max)
        #expect(decoded.header.hasTrailingOrientation)
        #expect(decoded.trailingOrientation == .left)
        #expect(try decoded.bytes == decodeRows(simple).bytes)
    }

    @Test
    func webpFrameSmallerThanTheCanvasIsPaddedTransparently() throws {
        let simple = try TestImages.photo(width: 6, height: 4).encoded(as: .webp)
        let frame = Self.number(1, 3) + Self.number(2, 3) + Self.number(5, 3) + Self.number(3, 3) + [0, 0, 0, 0]
        let animation =
            Self.chunk("ANIM", [255, 255, 255, 255, 0, 0]) + Self.chunk("ANMF", frame + simple.dropFirst(12))
            + Self.chunk("ANMF", frame + simple.dropFirst(12))
        let file = Self.riff(Self.chunk("VP8X", [0x02, 0, 0, 0] + Self.number(9, 3) + Self.number(9, 3)) + animation)
        let image = try decodeRows(simple).bytes
        for step in [1, Int.max] {
            let decoded = try decodeRows(file, step: step)
            #expect(decoded.frameCount == 2)
            #expect(decoded.header.hasAlpha)
            for y in 0..<10 {
                for x in 0..<10 {
                    let pixel = Array(decoded.bytes[((y * 10 + x) * 4)..<((y * 10 + x) * 4 + 4)])
                    let isInside = (2..<8).contains(x) && (4..<8).contains(y)
                    let offset = ((y - 4) * 6 + x - 2) * 4
                    #expect(pixel == (isInside ? Array(image[offset..<offset + 4]) : [0, 0, 0, 0]))
                }
            }
        }
    }

    @Test
    func webpImageOfAnotherSizeThanItsCanvasIsCorrupt() throws {
        let simple = try TestImages.photo(width: 20, height: 10).encoded(as: .webp)
        let file = Self.extended(simple, flags: 0, width: 21, height: 10, after: [])
        #expect(throws: CodecError.self) { try decodeRows(file) }
    }

    /// The places of an image in a file: alone, after its alpha, or in the first frame of an animation.
    enum Place: CaseIterable {
        case still, behindAlpha, frame

        /// Returns a file that declares `size` for `image`, a chunk.
        func file(_ image: [UInt8], _ size: PixelSize) -> [UInt8] {
            let alpha = WebPRowDecoderTests.chunk("ALPH", [UInt8](repeating: 0, count: size.area + 1))
            let sides = WebPRowDecoderTests.number(size.width - 1, 3) + WebPRowDecoderTests.number(size.height - 1, 3)
            let frame = WebPRowDecoderTests.chunk("ANMF", [0, 0, 0, 0, 0, 0] + sides + [0, 0, 0, 0] + image)
            return WebPRowDecoderTests.riff(
                WebPRowDecoderTests.chunk("VP8X", [self == .frame ? 0x02 : 0, 0, 0, 0] + sides)
                    + (self == .frame ? frame : self == .behindAlpha ? alpha + image : image))
        }
    }

    /// The chunk of a lossless image without colors, which takes eight bytes whatever its size.
    private static func empty(_ size: PixelSize, hasAlpha: Bool = false, padding: Int = 0) -> [UInt8] {
        let bits = size.width - 1 | (size.height - 1) << 14 | (hasAlpha ? 1 << 28 : 0)
        return chunk(
            "VP8L", [0x2F] + number(bits, 4) + [0x88, 0x88, 0x08] + [UInt8](repeating: 0, count: padding))
    }

    @Test(arguments: Place.allCases)
    func webpBitstreamOfAnotherSizeIsRejectedBeforeDecoding(place: Place) throws {
        let error = CodecError.corrupt(.webp, "the size of the image differs from its header")
        let lossy = try Array(TestImages.photo(width: 400, height: 300).encoded(as: .webp).dropFirst(12))
        let images = [lossy] + (place == .behindAlpha ? [] : [Self.empty(PixelSize(width: 400, height: 300))])
        for (image, size) in images.flatMap({ image in [(1, 1), (400, 299), (800, 600)].map { (image, $0) } }) {
            var header = ImageHeader(format: .webp, size: PixelSize(width: size.0, height: size.1))
            if place == .frame { header.frameCount = nil }
            let file = place.file(image, header.size)
            // The error occurs at the first bytes of the bitstream, also if the image is scaled down.
            let known = file.count - image.count + 8 + 10
            for target in [header.size, PixelSize(width: 50, height: 37)] {
                let rowSize = WebPRowDecoder.rowSize(of: header, for: target)
                let decoder = try WebPRowDecoder(header: header, rowSize: rowSize, limits: DecodeLimits())
                #expect(throws: error) {
                    try decoder.append(file.span.extracting(first: min(known, file.count - 1)), to: RowCollector())
                }
            }
            if place != .behindAlpha {
                #expect(throws: error) { try ImageHeader.probe(file.span.extracting(first: known)) }
            }
            #expect(throws: error) { try decodeRows(file) }
        }
    }

    @Test(arguments: Place.allCases)
    func webpAlphaIsDetectedWithoutTheHeaderFlag(place: Place) throws {
        let picture = try TestImages.photo(width: 400, height: 300, hasAlpha: true)
        let lossless = try picture.encoded(with: .webp(WebPOptions(isLossless: true)))
        let lossy = try TestImages.photo(width: 400, height: 300).encoded(as: .webp)
        let image = Array((place == .behindAlpha ? lossy : lossless).dropFirst(12))
        let file = place.file(image, picture.size)
        #expect(try ImageHeader.probe(file.span)?.hasAlpha == true)
        let options = DecodeOptions(target: .maximumSide(50))
        #expect(try !decode(file, options: options).pixels.isOpaque)
        #expect(try decode(file, options: options) { 900 } == decode(file, options: options))
    }

    @Test(arguments: [1, 5, .max])
    func lastWebPChunkMayLackItsPadding(step: Int) throws {
        let image = Self.empty(PixelSize(width: 9, height: 7), padding: 1)
        #expect(image.count % 2 == 0)
        let file = Self.riff(image.dropLast())
        #expect(try decodeRows(file, step: step).bytes == decodeRows(Self.riff(image)).bytes)
        // The bitstream does not need its own last byte either.
        #expect(try decodeRows(file.dropLast(), step: step).bytes == decodeRows(Self.riff(image)).bytes)
        #expect(throws: CodecError.truncated(.webp)) { try decodeRows(file.dropLast(3), step: step) }
    }

    @Test func webpThatEndsAfterItsLastPixelIsComplete() throws {
        let picture = try TestImages.photo(width: 21, height: 14)
        let exif = Self.chunk("EXIF", [UInt8](repeating: 1, count: 40))
        for isLossless in [false, true] {
            let simple = try picture.encoded(with: .webp(WebPOptions(isLossless: isLossless)))
            let whole = Self.extended(simple, flags: 0, width: 21, height: 14, after: exif)
            #expect(try warnings(of: whole, like: simple) == [])
            for missing in [1, 30, 47, 48] {
                #expect(try warnings(of: whole.dropLast(missing), like: simple) == [.missingEnd], "\(missing) bytes")
            }
            #expect(commonError(of: whole.dropLast(60)) == .truncated(.webp))
        }
    }

    /// libwebp skips it as well.
    @Test func frameInAStillWebPIsSkipped() throws {
        let picture = try TestImages.photo(width: 21, height: 14)
        let simple = try picture.encoded(as: .webp)
        for length in [0, 4, 16, 40] {
            let frame = Self.chunk("ANMF", [UInt8](repeating: 0, count: length))
            let behind = Self.extended(simple, flags: 0, width: 21, height: 14, after: frame)
            #expect(try warnings(of: behind, like: simple) == [])
            let before = Self.extended(
                Self.riff(frame + simple.dropFirst(12)), flags: 0, width: 21, height: 14, after: [])
            #expect(try warnings(of: before, like: simple) == [])
        }
    }

    static func extended(
        _ simple: [UInt8], flags: UInt8, width: Int, height: Int, after: [UInt8]
    ) -> [UInt8] {
        riff(
            chunk("VP8X", [flags, 0, 0, 0] + number(width - 1, 3) + number(height - 1, 3)) + simple.dropFirst(12)
                + after)
    }

    static func riff(_ chunks: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + number(chunks.count + 4, 4) + Array("WEBP".utf8) + chunks
    }

    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        Array(name.utf8) + number(data.count, 4) + data + (data.count % 2 == 1 ? [0] : [])
    }

    static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    @Test(arguments: [false, true])
    func webpMemoryEstimateIncludesCompressedBytes(hasAlpha: Bool) throws {
        let file = try TestImages.photo(width: 200, height: 150, hasAlpha: hasAlpha).encoded(as: .webp)
        let header = try #require(try ImageHeader.probe(file.span))
        #expect((file.count - 60...file.count).contains(header.memoryUsage))
        var limits = DecodeLimits()
        limits.maximumBytes = 500
        #expect(try ImageHeader.probe(file.span, limits: limits)?.memoryUsage == 500)
        var without = header
        without.memoryUsage = 0
        #expect(
            WebPRowDecoder.workingBytes(of: header, rowSize: header.size)
                == WebPRowDecoder.workingBytes(of: without, rowSize: header.size) + header.memoryUsage)
    }
}
