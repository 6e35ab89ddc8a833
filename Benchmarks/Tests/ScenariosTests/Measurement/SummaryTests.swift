import Testing

@testable import Scenarios

@Suite struct SummaryTests {
    @Test(arguments: [
        ([3.0], 3.0, 3.0, 3.0),
        ([5, 1, 3], 3, 1, 5),
        ([4, 1, 3, 2], 2.5, 1, 4),
        ([1, 1, 1, 1_000], 1, 1, 1_000),
    ])
    func medianIsTheMiddleValueOrTheMeanOfBothMiddleValues(
        values: [Double], median: Double, least: Double, most: Double
    ) throws {
        let summary = try #require(Summary(values))
        #expect(summary.median == median)
        #expect(summary.least == least)
        #expect(summary.most == most)
    }

    @Test func summaryOfNoValuesIsNil() {
        #expect(Summary([]) == nil)
    }
}
