import Testing

@testable import Scenarios

@Suite struct FormatsTests {
    private func subject(_ engine: String, _ format: OptionalFormat) -> Formats.Case {
        Formats.Case(engine: engine, format: format, megapixels: 1, maximumSide: 256)
    }

    @Test func commandIsComparedToTheCommandOfTheFormatAndToVips() {
        var repetition = Repetition<Formats.Case>()
        for format in OptionalFormat.allCases {
            for (engine, cpu) in [("webimage", 6.0), (format.decoder, 8), ("vipsthumbnail", 12)] {
                repetition[subject(engine, format)] = Measurements()
                repetition[subject(engine, format)]?[.cpu] = cpu
            }
        }
        for format in OptionalFormat.allCases {
            let ratios = Formats.compare(subject("webimage", format), in: repetition)
            #expect(ratios[.ratioToLimit] == 0.75)
            #expect(ratios[.ratioToVips] == 0.5)
            #expect(Formats.compare(subject(format.decoder, format), in: repetition)[.ratioToVips] == nil)
        }
    }

    @Test func everyFormatIsMeasuredAtEverySize() {
        let headings = Set(Formats.cases(.full).map(\.heading))
        #expect(headings.count == 4 * 3 * 2)
        #expect(headings.contains("JPEG XL, 50 MP to 1024"))
    }
}
