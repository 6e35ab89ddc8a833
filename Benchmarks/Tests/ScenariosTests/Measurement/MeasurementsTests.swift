import Testing

@testable import Scenarios

@Suite struct MeasurementsTests {
    @Test func measurementsSurviveEncodingAsJSON() throws {
        var measurements = Measurements()
        measurements[.requestsPerSecond] = 12_345.5
        measurements[.p99] = 0.25
        #expect(try JSON.value(Measurements.self, from: JSON.text(of: measurements)) == measurements)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func nonFiniteValueIsNotRecorded(value: Double) {
        var measurements = Measurements()
        measurements[.p50] = 1
        measurements[.p50] = value
        #expect(measurements[.p50] == nil)
    }

    @Test func ratioRequiresBothMeasurements() {
        var (fast, slow) = (Measurements(), Measurements())
        fast[.requestsPerSecond] = 300
        slow[.requestsPerSecond] = 100
        #expect(Optional(fast).ratio(of: .requestsPerSecond, to: slow) == 3)
        #expect(Optional(fast).ratio(of: .requestsPerSecond, to: nil) == nil)
        #expect(Optional(fast).ratio(of: .p50, to: slow) == nil)
    }

    @Test func ratioToZeroIsNil() {
        var (some, none, ratios) = (Measurements(), Measurements(), Measurements())
        some[.p99] = 1
        none[.p99] = 0
        ratios[.p99Ratio] = Optional(some).ratio(of: .p99, to: none)
        #expect(ratios[.p99Ratio] == nil)
    }
}
