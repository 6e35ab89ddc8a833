import Glibc
import TestSupport
import Testing
import Threading

@Suite(.timeLimit(.minutes(1)))
struct ProcessorCountTests {
    private typealias SetAffinity = @convention(c) (pid_t, Int, UnsafeRawPointer) -> Int32

    @Test(arguments: [
        ("max 100000\n", nil), ("100000 100000\n", 1), ("150000 100000\n", 2), ("50000 100000", 1),
        ("3200000 100000", 32), ("-1 100000", nil), ("", nil), ("100000", nil), ("0 0", nil), ("x y", nil),
    ])
    func cgroupQuotaLimitsTheProcessorCount(text: String, count: Int?) {
        #expect(processorCount(ofQuota: text) == count)
    }

    @Test func processorCountOfThreadBoundToOneProcessorIsOne() async throws {
        // Hidden from Swift behind `_GNU_SOURCE`.
        let symbol = try #require(dlsym(nil, "sched_setaffinity"))
        let setAffinity = unsafeBitCast(symbol, to: SetAffinity.self)
        let all = availableProcessorCount()
        #expect((1...max(1, sysconf(Int32(_SC_NPROCESSORS_CONF)))).contains(all))
        let count = await withCheckedContinuation { continuation in
            let thread: @Sendable () -> Void = {
                // The first processor that this process may use.
                for processor in 0..<1_024 {
                    var mask = [UInt8](repeating: 0, count: 128)
                    mask[processor / 8] = 1 << UInt8(processor % 8)
                    if setAffinity(0, mask.count, mask) == 0 { break }
                }
                continuation.resume(returning: availableProcessorCount())
            }
            do {
                try startThread(named: "test-affinity", thread)
            } catch {
                Issue.record(error)
                continuation.resume(returning: 0)
            }
        }
        #expect(count == 1)
        #expect(availableProcessorCount() == all)
    }
}
