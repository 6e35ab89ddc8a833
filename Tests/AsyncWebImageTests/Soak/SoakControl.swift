import AsyncWebImage
import HTTPTypes
import TestSupport

/// Changes the configuration and the state of a working loader at random.
struct SoakControl {
    let loader: ImageLoader
    var random: SplitMix

    /// Makes changes until `end`, then lets everything run again.
    mutating func run(until end: ContinuousClock.Instant) async {
        let coordinator = loader.coordinator
        while ContinuousClock.now < end {
            await change(coordinator)
            try? await Task.sleep(for: .milliseconds(Int.random(in: 5...100, using: &random)))
        }
        // With a low limit on bytes, the remaining downloads would run one by one, each until a deadline passes.
        await coordinator.configure { configuration in
            configuration.rateLimitPerHost = nil
            configuration.maximumBytesInFlight = 2_000_000
            configuration.maximumConcurrentDownloads = 32
            configuration.maximumConcurrentDownloadsPerHost = 32
            configuration.maximumConnectionsPerHost = 32
        }
        await coordinator.resume()
    }

    private mutating func change(_ coordinator: DownloadCoordinator) async {
        let slots = Int.random(in: 1...64, using: &random)
        let slotsPerHost = Int.random(in: 1...64, using: &random)
        let bytes = Int.random(in: 1_000...2_000_000, using: &random)
        switch Int.random(in: 0..<24, using: &random) {
        case 0, 1: await coordinator.suspend()
        case 2...5: await coordinator.resume()
        case 6: await coordinator.cancelAll()
        case 7: loader.imageCache.removeAll()
        case 8...15:
            await coordinator.configure { configuration in
                configuration.maximumConcurrentDownloads = slots
                configuration.maximumConcurrentDownloadsPerHost = slotsPerHost
                configuration.maximumConnectionsPerHost = slotsPerHost
            }
        case 16: await coordinator.configure { $0.executionOrder = bytes % 2 == 0 ? .lifo : .fifo }
        case 17, 18: await coordinator.configure { $0.maximumBytesInFlight = bytes }
        case 19: await coordinator.configure { $0.maximumReplayBytes = bytes % 20_000 }
        case 20: await coordinator.configure { $0.headerFields[.acceptLanguage] = bytes % 2 == 0 ? nil : "\(slots)" }
        case 21: await coordinator.configure { $0.rateLimitPerHost = RateLimit(requestsPerSecond: 500, burst: slots) }
        default: await coordinator.configure { $0.rateLimitPerHost = nil }
        }
    }
}
