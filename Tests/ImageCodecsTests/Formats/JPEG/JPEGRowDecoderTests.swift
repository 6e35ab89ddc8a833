import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(5)))
struct JPEGRowDecoderTests {
    /// One kind of file each: gray or color, 4:2:0 or 4:4:4, one scan or several.
    struct Kind: Sendable, CustomTestStringConvertible {
        var isGray = false
        var quality = 80
        var isProgressive = false
        var testDescription: String {
            "\(isGray ? "gray" : quality < 90 ? "4:2:0" : "4:4:4") \(isProgressive ? "progressive" : "baseline")"
        }

        func file(_ width: Int, _ height: Int) throws -> [UInt8] {
            let image = isGray ? TestImage.gray(width, height) : TestImage.photo(width, height)
            return try image.encoded(as: .jpeg, quality: quality, isProgressive: isProgressive)
        }

        static let all = [false, true].flatMap { isProgressive in
            [
                Kind(isProgressive: isProgressive), Kind(quality: 95, isProgressive: isProgressive),
                Kind(isGray: true, isProgressive: isProgressive),
            ]
        }
    }

    static let sizes = [(1, 1), (2, 1), (7, 5), (8, 8), (17, 33), (64, 1), (1, 64), (640, 481)]

    @Test(.enabled(if: ReferenceDecoder.has("djpeg"), "djpeg is not installed"), arguments: Kind.all)
    func jpegPixelsEqualDjpeg(kind: Kind) throws {
        for (width, height) in Self.sizes {
            let file = try kind.file(width, height)
            let reference = try ReferenceDecoder.decodeJPEG(file)
            let image = try decode(file)
            #expect(image.pixels.size == reference.size)
            #expect(image.pixels.rgb == reference.rgb, "\(width)x\(height)")
            #expect(stride(from: 3, to: image.pixels.bytes.count, by: 4).allSatisfy { image.pixels.bytes[$0] == 255 })
        }
    }

    @Test(.enabled(if: ReferenceDecoder.has("djpeg"), "djpeg is not installed"), arguments: Kind.all)
    func jpegRowsEqualDjpegAtEveryScale(kind: Kind) throws {
        for (width, height) in [(33, 17), (131, 77)] {
            let file = try kind.file(width, height)
            let header = try #require(try probe(file))
            for eighths in 1...8 {
                let reference = try ReferenceDecoder.decodeJPEG(file, eighths: eighths)
                let decoder = try JPEGRowDecoder(header: header, rowSize: reference.size, limits: DecodeLimits())
                let canvas = OrientedCanvas(stored: reference.size, orientation: .up)
                try decoder.append(file.span, to: canvas)
                try decoder.finish(to: canvas)
                // At 1/8, the colors of 4:2:0 are made of fewer frequencies.
                if eighths == 1, kind.isProgressive, !kind.isGray, kind.quality < 90 { continue }
                #expect(canvas.pixels.rgb == reference.rgb, "\(eighths)/8 of \(width)x\(height)")
            }
        }
    }

    @Test func jpegRowsAreScaledToAtLeastOneAndAHalfTimesTheTarget() {
        func rowSize(_ width: Int, _ height: Int, _ targetWidth: Int, _ targetHeight: Int) -> PixelSize {
            JPEGRowDecoder.rowSize(
                of: ImageHeader(format: .jpeg, size: PixelSize(width: width, height: height)),
                for: PixelSize(width: targetWidth, height: targetHeight))
        }
        #expect(rowSize(12000, 7940, 1024, 678) == PixelSize(width: 3000, height: 1985))
        #expect(rowSize(12000, 7940, 2000, 1323) == PixelSize(width: 3000, height: 1985))
        #expect(rowSize(12000, 7940, 4000, 2647) == PixelSize(width: 6000, height: 3970))
        #expect(rowSize(12000, 7940, 6001, 3971) == PixelSize(width: 12000, height: 7940))
        #expect(rowSize(12000, 7940, 1, 1) == PixelSize(width: 1500, height: 993))
        #expect(rowSize(9, 9, 1, 1) == PixelSize(width: 2, height: 2))
        #expect(rowSize(1, 1, 1, 1) == PixelSize(width: 1, height: 1))
        #expect(rowSize(100, 8, 50, 4) == PixelSize(width: 100, height: 8))
    }

    @Test(arguments: Kind.all)
    func jpegDecodedByteByByteIsTheSame(kind: Kind) throws {
        let file = try kind.file(61, 47)
        let whole = try decode(file)
        #expect(try decode(file) { 1 } == whole)
    }

    @Test(arguments: Kind.all)
    func jpegPixelsDoNotDependOnPieceSizes(kind: Kind) throws {
        let file = try kind.file(200, 150)
        let options = DecodeOptions(target: .maximumSide(70))
        let whole = try decode(file, options: options)
        for seed in 0..<10 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let image = try decode(file, options: options) { .random(in: 1...2000, using: &random) }
            #expect(image == whole)
        }
    }

    @Test(arguments: Kind.all)
    func jpegCutBeforeItsEndMarkerIsTruncated(kind: Kind) throws {
        let file = try kind.file(19, 13)
        for end in 1..<file.count - 2 {
            #expect(throws: CodecError.truncated(.jpeg), "\(end) of \(file.count) bytes") {
                try decode(Array(file[..<end]))
            }
        }
    }

    @Test(arguments: Kind.all)
    func jpegEndMarkerInsideTheImageIsTruncation(kind: Kind) throws {
        let file = try kind.file(60, 60)
        guard let scan = file.indices.first(where: { file[$0] == 0xFF && file[$0 + 1] == 0xDA }) else { return }
        let cut = Array(file[..<(scan + 40)]) + [0xFF, 0xD9]
        #expect(throws: CodecError.truncated(.jpeg)) { try decode(cut) }
    }

    @Test func bytesAfterAJPEGAreIgnored() throws {
        let file = try Kind().file(20, 20)
        let whole = try decode(file)
        let longer = file + [UInt8](repeating: 0xFF, count: 100_000) + file
        #expect(try decode(longer) == whole)
        #expect(try decode(longer) { 777 } == whole)
    }

    @Test func longJPEGSegmentsMayArriveInSmallPieces() throws {
        // A comment of 64 KiB, which libjpeg skips, between the start of the image and the remainder.
        let file = try Kind().file(20, 20)
        let comment: [UInt8] = [0xFF, 0xFE, 0xFF, 0xFF] + [UInt8](repeating: 0x41, count: 65_533)
        let longer = Array(file[..<2]) + comment + comment + Array(file[2...])
        #expect(try decode(longer) { 100 } == decode(file))
    }

    @Test func jpegScansAreLimitedWhileTheyArrive() throws {
        let file = try Kind(isProgressive: true).file(64, 64)
        var limits = DecodeLimits()
        limits.maximumScans = 3
        #expect(throws: CodecError.overLimit(.scans, value: 4, limit: 3)) {
            try decode(file, limits: limits)
        }
        limits.maximumScans = 10
        #expect(throws: Never.self) { try decode(file, limits: limits) }
    }

    @Test func pixelsOfAllJPEGScansAreLimitedWhileTheyArrive() throws {
        let file = try Kind(isProgressive: true).file(64, 64)
        #expect(throws: CodecError.overLimit(.work, value: 4 * 4_096, limit: 4 * 4_096 - 1)) {
            try decode(file, limits: DecodeLimits(maximumWork: 4 * 4_096 - 1))
        }
        #expect(throws: Never.self) { try decode(file, limits: DecodeLimits(maximumWork: 10 * 4_096)) }
        // A file with a single scan is limited like one.
        let baseline = try Kind().file(64, 64)
        #expect(throws: CodecError.overLimit(.work, value: 4_096, limit: 4_095)) {
            try decode(baseline, limits: DecodeLimits(maximumWork: 4_095))
        }
    }

    @Test(arguments: Kind.all)
    func damagedJPEGRowsGiveAnErrorOrAnImage(kind: Kind) throws {
        #expect(imageCount(ofDamaged: try kind.file(64, 48)) > 0)
    }
}
