import Testing
import Threading

@testable import AsyncWebImage

extension DownloadCoordinator {
    /// Returns when at least `count` callers wait.
    func callers(reach count: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
        await activity(sourceLocation: sourceLocation) { $0.callers >= count }
    }

    /// Returns when there is no more activity: no caller, no slot taken, nothing in the queue, no byte held.
    func becomesIdle(sourceLocation: SourceLocation = #_sourceLocation) async {
        await activity(sourceLocation: sourceLocation) {
            $0.running == 0 && $0.waiting == 0 && $0.callers == 0 && $0.bytesInFlight == 0
        }
    }

    /// Returns when at most `count` streams report the progress of downloads.
    func watchers(fallTo count: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
        await wait(until: { $0 <= count }, sourceLocation) {
            downloads.values.reduce(0) { sum, download in sum + download.log.state.withLock { $0.watchers.all.count } }
        }
    }

    /// Returns when `isWanted` returns `true` for the activity.
    ///
    /// If the task is canceled first, as by a time limit, records an issue that contains the last activity.
    func activity(sourceLocation: SourceLocation = #_sourceLocation, _ isWanted: (Activity) -> Bool) async {
        await wait(until: isWanted, sourceLocation) { activity }
    }

    /// Returns when `isWanted` returns `true` for the value.
    ///
    /// If the task is canceled first, records an issue that contains the last value.
    private func wait<Value>(
        until isWanted: (Value) -> Bool, _ sourceLocation: SourceLocation, value: () -> Value
    ) async {
        var last = value()
        while !isWanted(last) {
            guard !Task.isCancelled else {
                Issue.record("canceled while waiting; the last value is \(last)", sourceLocation: sourceLocation)
                return
            }
            await Task.yield()
            last = value()
        }
    }
}

extension ImageLoader.Configuration {
    /// The configuration for tests that delay responses: there are no deadlines, and failures are not retried.
    static var patient: Self {
        var configuration = Self()
        configuration.downloads.deadlines = Deadlines(connect: nil, firstByte: nil, idle: nil, total: nil)
        configuration.downloads.retry = nil
        // Under pressure, images that a test expects would be missing.
        configuration.trimsUnderMemoryPressure = false
        return configuration
    }
}
