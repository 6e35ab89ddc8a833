import Testing
import Threading

@testable import HTTPTransport

struct ThreadLimitsTests {
    @Test(arguments: [
        (1, 256, 512, [256], [512]),
        (4, 256, 512, [64, 64, 64, 64], [128, 128, 128, 128]),
        (4, 6, 7, [2, 2, 1, 1], [2, 2, 2, 1]),
        (4, 256, 3, [86, 85, 85], [1, 1, 1]),
        (4, 1, 100, [1], [100]),
        (0, 8, 8, [8], [8]),
        (-1, 8, 8, [8], [8]),
        (2, 0, 8, [0], [8]),
    ])
    func threadsDivideTheLimits(
        threads: Int, idle: Int, connections: Int, idleOfEach: [Int], connectionsOfEach: [Int]
    ) {
        let limits = ThreadLimits.divided(
            .init(maximumIdleConnections: idle, maximumConnections: connections, threadCount: threads),
            openFileLimit: 1_024)
        #expect(limits.map(\.idleConnections) == idleOfEach)
        #expect(limits.map(\.connections) == connectionsOfEach)
    }

    @Test(arguments: [(1, 1), (7, 3), (1_024, 512), (2_048, 1_024), (8_192, 2_048), (1_048_576, 2_048)])
    func idleConnectionsAreLimitedByTheFilesThatMayBeOpen(openFileLimit: Int, idle: Int) {
        let limits = ThreadLimits.divided(.init(threadCount: 2), openFileLimit: openFileLimit)
        #expect(limits.map(\.idleConnections).reduce(0, +) == idle)
    }

    @Test func idleConnectionsAreLimitedByTheMaximumOfConnections() {
        let limits = ThreadLimits.divided(.init(maximumConnections: 9, threadCount: 2), openFileLimit: 1_024)
        #expect(limits.map(\.idleConnections) == [5, 4])
    }

    @Test(arguments: [
        (nil, 2_048, nil), (nil, 2_049, 2_049), (100, 64, 100), (100, 101, 101) as (Int?, Int, Int?),
    ])
    func concurrentTransfersCanKeepTheirConnections(idle: Int?, transfers: Int, result: Int?) {
        var configuration = CurlTransport.Configuration(maximumIdleConnections: idle)
        configuration.keepIdleConnections(of: transfers)
        #expect(configuration.maximumIdleConnections == result)
    }

    @Test func threadsAreLimited() {
        let limits = ThreadLimits.divided(.init(threadCount: 1_000), openFileLimit: 100_000)
        #expect(limits.count == 16)
        #expect(limits.map(\.connections).reduce(0, +) == 50_000)
    }

    @Test(arguments: [(1, 1), (2, 1), (7, 1), (8, 2), (15, 3), (16, 4), (128, 4)])
    func thereIsOneThreadForEveryFourProcessors(processors: Int, threads: Int) {
        #expect(CurlTransport.Configuration.threadCount(processors: processors) == threads)
    }

    @Test func defaultThreadCountFollowsFromTheAvailableProcessors() {
        let expected = CurlTransport.Configuration.threadCount(processors: availableProcessorCount())
        #expect(CurlTransport.Configuration().threadCount == expected)
    }
}
