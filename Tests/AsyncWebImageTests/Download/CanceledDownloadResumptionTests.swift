import LoopbackOrigin
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// The partial bodies that are kept after cancellation, and the cost if the server cannot resume them.
@Suite(.timeLimit(.minutes(2)))
struct CanceledDownloadResumptionTests {
    private let clock = ManualClock()
    private let file = RangedFile(body: (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 11) })

    private func ranges(_ origin: LoopbackOrigin) -> [String?] {
        origin.recordedRequests(to: "/a").map { $0.headerFields["Range"] }
    }

    /// Returns the range of the second of two requests, after the first was canceled partway.
    private func rangesAfterCancelling(
        _ change: (inout ImageRequest) -> Void = { _ in }, answering fields: HeaderFields = [:]
    ) async throws -> [String?] {
        try await withLoopbackOrigin { origin in
            origin.route("/a") { [file] request in
                var response = file.response(to: request)
                response.headerFields.fields += fields.fields
                return request.ordinal == 1 ? response.stalled(at: .body(100_000)) : response
            }
            var request = ImageRequest(origin.url("/a"))
            change(&request)
            let loader = ImageLoader(configuration: .patient)
            let task = loader.dataTask(for: request)
            for await progress in task.progress where progress.received == 100_000 { break }
            task.cancel()
            await loader.coordinator.becomesIdle()
            let data = try await loader.data(for: request)
            #expect(data.bytes == file.body)
            return ranges(origin)
        }
    }

    @Test(arguments: [CachePolicy.useProtocol, .revalidate, .cacheElseLoad])
    func cachingPoliciesResumeCanceledDownload(_ policy: CachePolicy) async throws {
        #expect(try await rangesAfterCancelling { $0.cachePolicy = policy } == [nil, "bytes=100000-"])
    }

    @Test(arguments: [CachePolicy.reload, .noStore])
    func reloadAndNoStoreDoNotResumeCanceledDownload(_ policy: CachePolicy) async throws {
        #expect(try await rangesAfterCancelling { $0.cachePolicy = policy } == [nil, nil])
    }

    @Test func noStoreDownloadIsNotResumed() async throws {
        #expect(try await rangesAfterCancelling(answering: ["Cache-Control": "no-store"]) == [nil, nil])
        #expect(try await rangesAfterCancelling { $0.headerFields[.cacheControl] = "no-store" } == [nil, nil])
    }

    @Test func rejectedResumptionDoesNotCountAsAttempt() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a") { [file] request in
                switch request.ordinal {
                case 1: file.response(to: request).cut(at: .body(100_000))
                case 2: .init(status: 416)
                case 3: .init(status: 503)
                default: file.response(to: request)
                }
            }
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.retry = ExponentialBackoff(maximumAttempts: 3, base: .seconds(1))
            let loader = ImageLoader(configuration: configuration, clock: clock)
            let events = loader.coordinator.events()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            for _ in 0..<2 {
                _ = await clock.nextSleep()
                clock.advance(by: .seconds(100))
            }
            let data = try await task.value
            #expect(data.bytes == file.body)
            #expect(ranges(origin) == [nil, "bytes=100000-", nil, nil])

            await loader.coordinator.becomesIdle()
            await loader.shutdown(gracePeriod: .zero)
            var tries: [String] = []
            for await event in events {
                if case .started(let attempt) = event.kind { tries.append("started \(attempt)") }
                if case .retrying = event.kind { tries.append("retrying") }
            }
            #expect(tries == ["started 1", "retrying", "started 2", "started 3", "retrying", "started 4"])
        }
    }
}
