import Testing

@testable import Scenarios

@Suite struct DecodeTests {
    @Test(arguments: [Extent.full, .quick])
    func decodeCasesCoverLibraryCodecAndVips(extent: Extent) {
        for (_, cases) in Dictionary(grouping: Decode.cases(extent), by: \.heading) {
            let limit = cases.first?.format.limit
            let engines = [.decoder, limit, .thumbnail, .vipsthumbnail].compactMap { $0?.rawValue }
            #expect(cases.map(\.engine) == engines)
        }
        let large = Decode.cases(extent).filter { $0.maximumSide == 4_000 }
        #expect(large.allSatisfy { $0.megapixels == 100 })
    }

    @Test func decoderIsComparedToCodecAndThumbnailToVips() {
        var repetition = Repetition<Decode.Case>()
        let runs = [("decoder", 25.0, 4.0), ("djpeg", 20, 2), ("thumbnail", 30, 5), ("vipsthumbnail", 60, 50)]
        for (engine, milliseconds, memory) in runs {
            var measurements = Measurements()
            measurements[.wall] = milliseconds
            measurements[.peakMemory] = memory
            repetition[subject(engine)] = measurements
        }
        let decoder = Decode.compare(subject("decoder"), in: repetition)
        #expect(decoder[.ratioToLimit] == 1.25)
        #expect(decoder[.ratioToVips] == nil)
        let thumbnail = Decode.compare(subject("thumbnail"), in: repetition)
        #expect(thumbnail[.ratioToLimit] == nil)
        #expect(thumbnail[.ratioToVips] == 0.5)
        #expect(thumbnail[.memoryRatioToVips] == 0.1)
    }

    @Test func pngDecodeHasNoRatioToLimit() {
        var repetition = Repetition<Decode.Case>()
        repetition[subject("decoder", .png)] = Measurements()
        #expect(Decode.compare(subject("decoder", .png), in: repetition)[.ratioToLimit] == nil)
    }

    private func subject(_ engine: String, _ format: DecodeFormat = .baselineJPEG) -> Decode.Case {
        Decode.Case(engine: engine, format: format, megapixels: 10, maximumSide: 256)
    }
}
