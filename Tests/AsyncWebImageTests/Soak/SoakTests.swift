import Foundation
import TestSupport
import Testing

/// Each runs in a separate process, or as the only test of one, because descriptors and threads are counted.
struct SoakTests {
    @Test(.timeLimit(.minutes(3))) func soakOfAFewSecondsLeavesNothing() async {
        await #expect(processExitsWith: .success) {
            for seed in [1, 2] as [UInt64] {
                let run = SoakRun(seed: seed, duration: .seconds(2), roundDuration: .seconds(1))
                let findings = try await run.run()
                #expect(findings.isEmpty, "seed \(seed): \(findings)")
            }
        }
    }

    /// The test that `make soak` runs.
    @Test(.enabled(if: LongSoak.asked != nil, "make soak"))
    func longSoakLeavesNothing() async throws {
        let long = try #require(LongSoak.asked)
        long.print("seed \(long.seed), \(long.seconds) seconds")
        var run = SoakRun(seed: long.seed, duration: .seconds(long.seconds), roundDuration: .seconds(10))
        run.report = { long.print($0) }
        let findings = try await run.run()
        for finding in findings { long.print("found: \(finding)") }
        long.print(findings.isEmpty ? "nothing is missing" : "failed")
        #expect(findings.isEmpty)
    }
}

/// The settings for `make soak`.
private struct LongSoak {
    let seconds: Int
    let seed: UInt64

    static var asked: LongSoak? {
        let environment = ProcessInfo.processInfo.environment
        guard let seconds = environment["WEBIMAGE_SOAK_SECONDS"].flatMap({ Int($0) }) else { return nil }
        return LongSoak(seconds: seconds, seed: environment["WEBIMAGE_SOAK_SEED"].flatMap { UInt64($0) } ?? 1)
    }

    /// Prints a line without buffering, even if the output is not a terminal.
    func print(_ line: String) { FileHandle.standardOutput.write(Data("soak: \(line)\n".utf8)) }
}
