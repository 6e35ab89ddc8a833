import Testing

@testable import Scenarios

@Suite struct StartUpTests {
    @Test func startUpTimeIsComparedToDjpeg() {
        var repetition = Repetition<StartUp.Case>()
        for (engine, milliseconds) in [("webimage", 4.0), ("djpeg", 1)] {
            var measurements = Measurements()
            measurements[.wall] = milliseconds
            repetition[StartUp.Case(engine: engine)] = measurements
        }
        #expect(StartUp.compare(StartUp.Case(engine: "webimage"), in: repetition)[.ratioToLimit] == 4)
        #expect(StartUp.cases(.quick) == StartUp.cases(.full))
    }
}
