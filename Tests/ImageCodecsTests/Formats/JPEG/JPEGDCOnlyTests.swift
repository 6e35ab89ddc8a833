import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Files of several scans at 1/8 of their size or less, made of the DC coefficients of their blocks.
@Suite(.timeLimit(.minutes(5)))
struct JPEGDCOnlyTests {
    typealias Kind = JPEGRowDecoderTests.Kind
    static let kinds = Kind.all.filter(\.isProgressive)
    private let options = DecodeOptions(target: .maximumSide(20))

    @Test(arguments: [80, 95])  // 4:2:0 and 4:4:4
    func dcOnlyDecodeApproximatesFullDecode(quality: Int) throws {
        let image = try TestImages.photo(width: 320, height: 240)
        let file = try image.encoded(as: .jpeg, quality: quality, isProgressive: true)
        let header = try #require(try probe(file))
        #expect(JPEGRowDecoder.rowSize(of: header, for: PixelSize(width: 40, height: 30)).width == 40)
        #expect(JPEGRowDecoder.rowSize(of: header, for: PixelSize(width: 41, height: 30)).width == 80)
        let small = PixelSize(width: 37, height: 28)
        let coarse = try decode(file, options: DecodeOptions(target: .fit(small))).pixels
        let whole = ReferenceScaler().scale(try decode(file).pixels, to: small)
        let difference = zip(coarse.bytes, whole).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(difference < whole.count)
    }

    @Test(arguments: kinds)
    func dcOnlyDecodeDoesNotDependOnPieceSizes(kind: Kind) throws {
        let file = try kind.file(200, 150)
        let whole = try decode(file, options: options)
        #expect(try decode(file, options: options) { 1 } == whole)
        var random = SeededGenerator(seed: 3)
        #expect(try decode(file, options: options) { .random(in: 1...500, using: &random) } == whole)
    }

    @Test func dcOnlyDecodeSkipsDetailScans() throws {
        let file = try Kind(isProgressive: true).file(200, 150)
        let last = try #require(file.indices.dropLast().last { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
        var damaged = file
        for index in last + 10..<file.count - 2 { damaged[index] = 0 }
        #expect(try decode(damaged, options: options).pixels == decode(file, options: options).pixels)
        #expect(try (try? decode(damaged))?.pixels != decode(file).pixels)
    }

    @Test(arguments: kinds)
    func fileThatEndsBeforeItsLastScanIsAnErrorInADCOnlyDecode(kind: Kind) throws {
        let file = try kind.file(40, 30)
        let options = DecodeOptions(target: .maximumSide(5))
        let whole = try decode(file, options: options)
        let last = try #require(file.indices.dropLast().last { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
        for end in 1..<file.count {
            let beginning = Array(file[..<end])
            if end < last + 10 {
                #expect(throws: CodecError.truncated(.jpeg), "\(end) of \(file.count) bytes") {
                    try decode(beginning, options: options)
                }
            } else {
                // Only an end marker shows that there is no further scan, but none could add anything.
                let image = try decode(beginning, options: options)
                #expect(image.pixels == whole.pixels && image.header.warnings == [.missingEnd])
            }
        }
    }

    @Test func dcOnlyPreviewsStartWithTheFirstScan() throws {
        let file = try Kind(isProgressive: true).file(200, 150)
        let decoder = StreamingDecoder(options: options)
        var shown: [Int?] = []
        for offset in stride(from: 0, to: file.count, by: 50) {
            let version = decoder.previewVersion
            try append(file, offset..<min(file.count, offset + 50), to: decoder)
            try decoder.begin()
            guard decoder.previewVersion > version, let preview = try decoder.preview() else { continue }
            #expect(preview.completeRows == 15)
            shown.append(preview.scan)
        }
        #expect(shown.first == 1)
        #expect(try decoder.preview()?.pixels == decoder.finish().pixels)
    }

    @Test func dcOnlyDecodeCountsAllScans() throws {
        let file = try Kind(isProgressive: true).file(64, 64)
        var limits = DecodeLimits()
        limits.maximumScans = 9
        let options = DecodeOptions(target: .maximumSide(8))
        #expect(throws: CodecError.overLimit(.scans, value: 10, limit: 9)) {
            try decode(file, options: options, limits: limits)
        }
        limits.maximumScans = 10
        #expect(throws: Never.self) { try decode(file, options: options, limits: limits) }
    }

    @Test(arguments: kinds)
    func damagedJPEGInADCOnlyDecodeGivesAnErrorOrAnImage(kind: Kind) throws {
        #expect(imageCount(ofDamaged: try kind.file(64, 48), options: DecodeOptions(target: .maximumSide(6))) > 0)
    }

    // MARK: Cost

    @Test func jpegMemoryEstimateDependsOnChromaSubsampling() throws {
        func cost(_ kind: Kind, _ options: DecodeOptions) throws -> Int {
            let decoder = StreamingDecoder(options: options)
            try append(kind.file(640, 480), to: decoder)
            return try #require(decoder.plan).estimatedBytes
        }
        let pixels = 640 * 480
        let small = DecodeOptions(target: .maximumSide(100))
        let baseline = try cost(Kind(), small)
        #expect(try cost(Kind(isProgressive: true), small) - baseline == pixels * 3)
        #expect(try cost(Kind(quality: 95, isProgressive: true), small) - baseline == pixels * 6)
        #expect(try cost(Kind(isGray: true, isProgressive: true), small) - baseline == pixels * 2)
        // One of 64 coefficients, and a few rows of blocks.
        #expect(try cost(Kind(isProgressive: true), DecodeOptions(target: .maximumSide(80))) - baseline < pixels / 2)
    }

    @Test func jpegBlockCountIncludesPadding() {
        var header = ImageHeader(format: .jpeg, size: PixelSize(width: 17, height: 9))
        header.sampling = [SamplingFactors(byte: 0x22), SamplingFactors(byte: 0x11), SamplingFactors(byte: 0x11)]
        #expect(header.blocks.map(\.width) == [4, 2, 2])
        #expect(header.blocks.map(\.height) == [2, 1, 1])
        header.sampling = [SamplingFactors(byte: 0x11)]
        #expect(header.blocks == [PixelSize(width: 3, height: 2)])
    }
}
