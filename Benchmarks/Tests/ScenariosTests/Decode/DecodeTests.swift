import Testing

@testable import Scenarios

@Suite struct DecodeTests {
    @Test(arguments: [Extent.full, .quick])
    func everyImageIsMadeSmallerByTheLibraryItsCodecAndVips(extent: Extent) {
        for (_, cases) in Dictionary(grouping: Decode.cases(extent), by: \.heading) {
            let limit = cases.first?.format.limit
            let engines = [.thumbnail, limit, .vipsthumbnail].compactMap { $0?.rawValue }
            #expect(cases.map(\.engine) == engines)
        }
        let large = Decode.cases(extent).filter { $0.maximumSide == 4_000 }
        #expect(large.allSatisfy { $0.megapixels == 100 })
    }

    @Test func ratiosAreToTheCodecOfTheFormatAndToVips() {
        var repetition = Repetition<Decode.Case>()
        for (engine, milliseconds, memory) in [("thumbnail", 30.0, 5.0), ("djpeg", 20, 2), ("vipsthumbnail", 60, 50)] {
            var measurements = Measurements()
            measurements[.wall] = milliseconds
            measurements[.peakMemory] = memory
            repetition[subject(engine)] = measurements
        }
        let ratios = Decode.compare(subject("thumbnail"), in: repetition)
        #expect(ratios[.ratioToLimit] == 1.5)
        #expect(ratios[.ratioToVips] == 0.5)
        #expect(ratios[.memoryRatioToVips] == 0.1)
    }

    @Test func aPNGHasNoLimit() {
        var repetition = Repetition<Decode.Case>()
        repetition[subject("thumbnail", .png)] = Measurements()
        #expect(Decode.compare(subject("thumbnail", .png), in: repetition)[.ratioToLimit] == nil)
    }

    private func subject(_ engine: String, _ format: DecodeFormat = .baselineJPEG) -> Decode.Case {
        Decode.Case(engine: engine, format: format, megapixels: 10, maximumSide: 256)
    }
}
