import Testing

@testable import Scenarios

@Suite struct PercentilesTests {
    private let hundred = Percentiles(nanoseconds: (1...100).map { $0 * 1_000_000 }.reversed())

    @Test(arguments: [(0.0, 1.0), (1, 1), (1.5, 2), (50, 50), (99, 99), (99.1, 100), (100, 100)])
    func thePercentileIsTheValueAtTheNearestRank(percent: Double, milliseconds: Double) {
        #expect(hundred.milliseconds(percent) == milliseconds)
    }

    @Test func everyPercentileOfOneValueIsThatValue() {
        let one = Percentiles(nanoseconds: [1_500_000])
        #expect(one.milliseconds(50) == 1.5)
        #expect(one.milliseconds(99) == 1.5)
    }

    @Test func theMeanCountsEveryValue() {
        #expect(hundred.meanMilliseconds == 50.5)
    }

    @Test func percentileOfNoValuesIsNil() {
        #expect(Percentiles(nanoseconds: []).milliseconds(50) == nil)
        #expect(Percentiles(nanoseconds: []).meanMilliseconds == nil)
    }
}
