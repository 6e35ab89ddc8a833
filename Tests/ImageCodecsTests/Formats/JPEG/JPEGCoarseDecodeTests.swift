import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Files of several scans at 1/8 of their size, made of the lowest frequencies of their blocks.
@Suite(.timeLimit(.minutes(5)))
struct JPEGCoarseDecodeTests {
    typealias Kind = JPEGRowDecoderTests.Kind
    static let kinds = Kind.all.filter(\.isProgressive)
    private let options = DecodeOptions(target: .maximumSide(16))

    @Test func largeProgressiveJPEGsAreDecodedAtAnEighthUpToThatSize() {
        func rows(_ width: Int, _ height: Int, for targetWidth: Int, _ targetHeight: Int) -> Int {
            var header = ImageHeader(format: .jpeg, size: PixelSize(width: width, height: height))
            header.isProgressive = true
            header.sampling = [SamplingFactors(byte: 0x22), SamplingFactors(byte: 0x11), SamplingFactors(byte: 0x11)]
            return JPEGRowDecoder.rowSize(of: header, for: PixelSize(width: targetWidth, height: targetHeight)).width
        }
        #expect(rows(12000, 7940, for: 1500, 993) == 1500)
        #expect(rows(12000, 7940, for: 1501, 993) == 3000)
        #expect(rows(12001, 7940, for: 1501, 993) == 3001)
        #expect(rows(4000, 3000, for: 500, 375) == 1000)
        #expect(rows(4000, 3000, for: 333, 250) == 500)
    }

    @Test func refinementsBringColorsCloserToThoseOfBaselineJPEGs() throws {
        func rows(isProgressive: Bool, hasRefinements: Bool = true) throws -> [UInt8] {
            let options = JPEGOptions(quality: 60, chroma: .half, isProgressive: isProgressive)
            let file = try JPEGTwinTests.image.encoded(with: .jpeg(options))
            let header = try #require(try probe(file))
            let scale = JPEGScale.eighth(of: header.size)
            var coarse = JPEGCoarseDecode(of: header, at: scale)
            #expect((coarse != nil) == isProgressive)
            coarse?.needsRefinements = hasRefinements
            let decoder = try JPEGRowDecoder(header: header, scale: scale, coarse: coarse, limits: DecodeLimits())
            let canvas = OrientedCanvas(stored: scale.rowSize, orientation: .up)
            try decoder.append(file.span, to: canvas)
            try decoder.finish(to: canvas)
            return canvas.pixels.bytes
        }
        let baseline = try rows(isProgressive: false)
        func difference(_ rows: [UInt8]) -> Int { zip(rows, baseline).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } }
        let refined = difference(try rows(isProgressive: true))
        let others = difference(try rows(isProgressive: true, hasRefinements: false))
        #expect(refined * 3 < others * 2)
        #expect(others < baseline.count * 3)
    }

    @Test(arguments: kinds)
    func coarseDecodeDoesNotDependOnPieceSizes(kind: Kind) throws {
        let file = try kind.file(200, 150)
        let whole = try decode(file, options: options)
        #expect(try decode(file, options: options) { 1 } == whole)
        var random = SeededGenerator(seed: 3)
        #expect(try decode(file, options: options) { .random(in: 1...500, using: &random) } == whole)
    }

    @Test func coarseDecodeSkipsDetailScans() throws {
        let file = try Kind(isProgressive: true).file(200, 150)
        let last = try #require(file.indices.dropLast().last { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
        var damaged = file
        for index in last + 10..<file.count - 2 { damaged[index] = 0 }
        #expect(try decode(damaged, options: options).pixels == decode(file, options: options).pixels)
        #expect(try (try? decode(damaged))?.pixels != decode(file).pixels)
    }

    @Test(arguments: kinds)
    func fileThatEndsBeforeItsLastScanIsAnErrorInACoarseDecode(kind: Kind) throws {
        let file = try kind.file(40, 30)
        let options = DecodeOptions(target: .maximumSide(3))
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

    @Test func coarsePreviewsStartWithTheFirstScan() throws {
        let file = try Kind(isProgressive: true).file(200, 150)
        let decoder = StreamingDecoder(options: options)
        var shown: [Int?] = []
        for offset in stride(from: 0, to: file.count, by: 50) {
            let version = decoder.previewVersion
            try append(file, offset..<min(file.count, offset + 50), to: decoder)
            try decoder.begin()
            guard decoder.previewVersion > version, let preview = try decoder.preview() else { continue }
            #expect(preview.completeRows == 12)
            shown.append(preview.scan)
        }
        #expect(shown.first == 1)
        #expect(try decoder.preview()?.pixels == decoder.finish().pixels)
    }

    @Test func coarseDecodeCountsAllScans() throws {
        let file = try Kind(isProgressive: true).file(64, 64)
        var limits = DecodeLimits()
        limits.maximumScans = 9
        let options = DecodeOptions(target: .maximumSide(5))
        #expect(throws: CodecError.overLimit(.scans, value: 10, limit: 9)) {
            try decode(file, options: options, limits: limits)
        }
        limits.maximumScans = 10
        #expect(throws: Never.self) { try decode(file, options: options, limits: limits) }
    }

    @Test(arguments: kinds)
    func damagedJPEGInACoarseDecodeGivesAnErrorOrAnImage(kind: Kind) throws {
        #expect(imageCount(ofDamaged: try kind.file(64, 48), options: DecodeOptions(target: .maximumSide(5))) > 0)
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
        // Few of 64 coefficients, and a few rows of blocks.
        let eighth = DecodeOptions(target: .maximumSide(50))
        #expect(try cost(Kind(isProgressive: true), eighth) - cost(Kind(), eighth) < pixels / 3)
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
