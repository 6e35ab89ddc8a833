import Threading

@testable import AsyncWebImage

extension DownloadCoordinator {
    /// Returns once so many callers wait.
    func callers(reach count: Int) async { await activity { $0.callers >= count } }

    /// Returns once there is no activity anymore: no caller, no slot taken, nothing in the queue, no byte held.
    func becomesIdle() async {
        await activity { $0.running == 0 && $0.waiting == 0 && $0.callers == 0 && $0.bytesInFlight == 0 }
    }

    /// Returns once so many streams show the progress of downloads.
    func watchers(fallTo count: Int) async {
        func watchers() -> Int {
            downloads.values.reduce(0) { sum, download in sum + download.log.state.withLock { $0.watchers.all.count } }
        }
        while watchers() > count, !Task.isCancelled { await Task.yield() }
    }

    /// Runs a closure in one turn: messages that it posts are read only after its end.
    func inOneTurn<Result: Sendable>(_ body: @Sendable () -> Result) -> Result { body() }

    /// Returns once the activity is as wanted, or the test's time is up.
    func activity(_ isWanted: (Activity) -> Bool) async {
        while !isWanted(activity), !Task.isCancelled { await Task.yield() }
    }
}

extension ImageLoader.Configuration {
    /// For tests that hold an answer back: however slow the machine, no deadline ends it, and no failure is tried again.
    static var patient: Self {
        var configuration = Self()
        configuration.downloads.deadlines = Deadlines(connect: nil, firstByte: nil, idle: nil, total: nil)
        configuration.downloads.retry = nil
        // Under pressure, images that a test expects would be missing.
        configuration.trimsUnderMemoryPressure = false
        return configuration
    }
}
