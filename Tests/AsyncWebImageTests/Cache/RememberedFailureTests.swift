import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Failures are remembered for as long as their origin says, and are never images.
@Suite(.timeLimit(.minutes(2)))
struct RememberedFailureTests {
    private let time = ManualTime()

    private func withLoader(
        retry: (any RetryPolicy)? = nil, _ body: (LoopbackOrigin, ImageLoader) async throws -> Void
    ) async throws {
        try await withLoopbackOrigin { origin in
            var configuration = ImageLoader.Configuration.patient
            configuration.responseCache = try .test(nil, time)
            configuration.downloads.retry = retry
            let loader = ImageLoader(configuration: configuration)
            try await body(origin, loader)
            await loader.shutdown(gracePeriod: .zero)
        }
    }

    /// Returns the error of a request after its download has ended.
    private func error(_ loader: ImageLoader, _ request: ImageRequest) async throws -> ImageError? {
        defer { Task { await loader.coordinator.becomesIdle() } }
        do {
            _ = try await loader.image(for: request)
            return nil
        } catch {
            await loader.coordinator.becomesIdle()
            return error as? ImageError
        }
    }

    @Test func aFailureIsAnsweredFromTheCacheWithItsStatusAndText() async throws {
        try await withLoader { origin, loader in
            origin.route(
                "/a",
                .init(
                    status: 404, headerFields: ["Cache-Control": "max-age=60", "Content-Type": "text/plain"],
                    body: Array("gone".utf8)))
            for age in [0, 59] {
                time.advance(by: age)
                guard case .status(let head, text: "gone")? = try await error(loader, ImageRequest(origin.url("/a")))
                else {
                    Issue.record("another error")
                    return
                }
                #expect(head.status == .notFound)
            }
            #expect(origin.counts.totalRequests == 1)
            time.advance(by: 1)
            _ = try await error(loader, ImageRequest(origin.url("/a")))
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func storedStatus204IsAnEmptyBodyError() async throws {
        try await withLoader { origin, loader in
            origin.route("/a", .init(status: 204, headerFields: ["Cache-Control": "max-age=60"]))
            for _ in 0..<2 {
                guard case .emptyBody(let head)? = try await error(loader, ImageRequest(origin.url("/a"))) else {
                    Issue.record("another error")
                    return
                }
                #expect(head.status == .noContent && head.contentLength == nil)
            }
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func aFailureThatIsRememberedIsNotTriedAgain() async throws {
        struct AtOnce: RetryPolicy {
            func delay(after error: ImageError, attempts: Int) -> Duration? { attempts < 3 ? .zero : nil }
        }
        try await withLoader(retry: AtOnce()) { origin, loader in
            origin.route("/a", .init(status: 503, headerFields: ["Cache-Control": "max-age=60"], body: [1]))
            _ = try await error(loader, ImageRequest(origin.url("/a")))
            // Attempts of one request all reach the origin.
            #expect(origin.counts.totalRequests == 3)
            _ = try await error(loader, ImageRequest(origin.url("/a")))
            #expect(origin.counts.totalRequests == 3)
        }
    }
}
