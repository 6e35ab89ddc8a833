import Foundation
import LoopbackOrigin
import Testing

@testable import Engines

/// Tests of the original's features that other engines do not have.
@Suite(.timeLimit(.minutes(1)))
struct ImageDownloaderTests {
    private let body = [UInt8](repeating: 7, count: 100)

    /// In last-in, first-out order, each download waits for the one added after it.
    @Test(arguments: [
        (ImageDownloader.ExecutionOrder.firstInFirstOut, [1, 2, 3, 4, 5]), (.lastInFirstOut, [1, 5, 4, 3, 2]),
    ])
    func downloadsRunInTheConfiguredOrder(order: ImageDownloader.ExecutionOrder, expected: [Int]) async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/1", Response(body: body).held(at: .start, until: gate))
            origin.route("/*", Response(body: body))
            let downloader = ImageDownloader(maximumConcurrentDownloads: 1, executionOrder: order)
            for number in 1...5 {
                let url = try #require(URL(string: origin.url("/\(number)")))
                _ = downloader.download(url, options: DownloadOptions(decodes: false)) { _, _, _, _ in }
                if number == 1 { await origin.requests(to: "/1", reach: 1) }
            }
            gate.open()
            await origin.counts { $0.totalRequests == 5 }
            #expect(origin.recordedRequests.map(\.path) == expected.map { "/\($0)" })
            downloader.invalidate()
        }
    }

    @Test func progressIsReportedForEveryPieceUpToTheTotal() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", Response(body: body))
            let url = try #require(URL(string: origin.url("/")))
            let downloader = ImageDownloader()
            let progress = AsyncStream<[Int]>.makeStream()
            let token = downloader.download(url, options: DownloadOptions(decodes: false)) { received, expected in
                progress.continuation.yield([received, expected])
            } completed: { _, data, _, _ in
                #expect(data?.count == 100)
                progress.continuation.finish()
            }
            #expect(token.url == url)
            var seen: [[Int]] = []
            for await step in progress.stream { seen.append(step) }
            #expect(seen == [[0, -1], [0, 100], [100, 100]])
            downloader.invalidate()
        }
    }
}
