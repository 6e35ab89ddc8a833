import Testing

@testable import HTTPTransport

struct FloodJudgeTests {
    private let enough = FloodJudge.minimumBytes

    @Test func floodJudgeEndsConnectionReadDuringALongLibcurlCall() {
        var judge = FloodJudge()
        var read: [Int32: Int64] = [3: 1_000, 4: 50]
        #expect(judge.look(number: 7, processorTime: .zero) { read } == nil)
        #expect(judge.look(number: 7, processorTime: .milliseconds(20)) { read } == nil)
        read = [3: 1_000 + 10, 4: 50 + enough, 5: 10 * enough]
        #expect(judge.look(number: 7, processorTime: .milliseconds(40)) { read } == 4)
        // The flood has been reported; the next report takes as much time again.
        #expect(judge.look(number: 7, processorTime: .milliseconds(60)) { read } == nil)
    }

    @Test func secondFloodIsEndedSooner() {
        var judge = FloodJudge()
        var read: [Int32: Int64] = [3: 0, 4: 0]
        for time in [0, 20] { _ = judge.look(number: 1, processorTime: .milliseconds(time)) { read } }
        read[3] = enough
        #expect(!judge.needsFrequentSampling)
        #expect(judge.look(number: 1, processorTime: .milliseconds(40)) { read } == 3)
        #expect(judge.needsFrequentSampling)
        for time in [42, 44] { _ = judge.look(number: 3, processorTime: .milliseconds(time)) { read } }
        read[4] = enough
        #expect(judge.look(number: 3, processorTime: .milliseconds(46)) { read } == 4)
        // After a second of processor time, it samples less frequently again.
        for time in [1_100, 1_120] { _ = judge.look(number: 5, processorTime: .milliseconds(time)) { read } }
        #expect(!judge.needsFrequentSampling)
        read[3] = 2 * enough
        #expect(judge.look(number: 5, processorTime: .milliseconds(1_130)) { read } == nil)
        #expect(judge.look(number: 5, processorTime: .milliseconds(1_140)) { read } == 3)
    }

    @Test func libcurlCallThatInvokesCallbacksIsNotAFlood() {
        var judge = FloodJudge()
        for look in 0..<100 {
            let read: [Int32: Int64] = [3: Int64(look) * enough]
            #expect(judge.look(number: UInt64(2 * look + 1), processorTime: .milliseconds(20 * look)) { read } == nil)
        }
    }

    @Test func timeBetweenLibcurlCallsIsNotAFlood() {
        var judge = FloodJudge()
        for look in 0..<100 {
            let number: UInt64? = look.isMultiple(of: 2) ? 1 : nil
            let read: [Int32: Int64] = [3: Int64(look) * enough]
            #expect(judge.look(number: number, processorTime: .milliseconds(20 * look)) { read } == nil)
        }
    }

    @Test func threadWithoutProcessorTimeIsNotFlooded() {
        var judge = FloodJudge()
        for look in 0..<100 {
            let read: [Int32: Int64] = [3: Int64(look) * enough]
            #expect(judge.look(number: 1, processorTime: .microseconds(300 * look)) { read } == nil)
        }
    }

    /// The call may load certificate authorities, or search very many cookies.
    @Test func libcurlCallThatReadsLittleIsNotAFlood() {
        var judge = FloodJudge()
        for look in 0..<100 {
            let read: [Int32: Int64] = [3: 60_000 + (look > 50 ? 5_000 : 0), 4: 0]
            #expect(judge.look(number: 1, processorTime: .milliseconds(20 * look)) { read } == nil)
        }
    }
}
