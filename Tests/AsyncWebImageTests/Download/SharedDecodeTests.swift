import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
import ImageCodecs

/// The effects that several decodes of one download have on each other.
@Suite(.timeLimit(.minutes(1)))
struct SharedDecodeTests {
    /// A caller that joins again must not get the result of the decode that was just canceled.
    @Test func callerJoiningAfterCanceledDecodeGetsNewDecode() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a.png", .init(body: try Samples.file(.png, 300, 200)).held(at: .body(200), until: gate))
            var configuration = ImageLoader.Configuration.patient
            configuration.maximumMemoryCacheBytes = 0
            let loader = ImageLoader(configuration: configuration)
            let request = ImageRequest(origin.url("/a.png"))
            async let data = loader.data(for: request)
            await origin.bodyBytesSent(to: "/a.png", reach: 200)
            for _ in 0..<500 {
                let cancelled = loader.imageTask(for: request)
                await loader.coordinator.callers(reach: 2)
                cancelled.cancel()
                let next = loader.imageTask(for: request)
                await loader.coordinator.activity { $0.callers == 2 }
                next.cancel()
                await loader.coordinator.activity { $0.callers == 1 }
            }
            let images = (0..<20).map { _ in
                loader.imageTask(for: request).cancel()
                return loader.imageTask(for: request)
            }
            gate.open()
            for image in images {
                let response = try await image.value
                #expect(response.pixels.width == 300)
            }
            _ = try await data
            await loader.coordinator.becomesIdle()
            #expect(await loader.decoder.memoryInUse == 0)
        }
    }

    /// The running decode needs bytes that arrive only if the decode that waits for memory does not have to read them
    /// first.
    @Test func decodeWaitingForMemoryDoesNotBlockARunningDecode() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.noise(700, 700)
            #expect(file.count > 5 << 18)
            let gate = Gate()
            origin.route("/a.png", .init(body: file).held(at: .body(100), until: gate))
            let codec = StreamingDecoder()
            try codec.append(file.span.extracting(0..<4_096))
            let plan = try #require(codec.plan)
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.maximumReplayBytes = 0
            configuration.decoding.memoryBudget = plan.estimatedBytes + 1_000
            configuration.maximumMemoryCacheBytes = 0
            let loader = ImageLoader(configuration: configuration)

            async let large = loader.image(for: ImageRequest(origin.url("/a.png")))
            async let medium = loader.image(for: ImageRequest(origin.url("/a.png"), maximumSide: 600))
            async let small = loader.image(for: ImageRequest(origin.url("/a.png"), maximumSide: 500))
            await loader.coordinator.callers(reach: 3)
            gate.open()

            let widths = try await [large.pixels.width, medium.pixels.width, small.pixels.width]
            #expect(widths == [700, 600, 500])
            #expect(await loader.decoder.memoryInUse == 0)
        }
    }

    /// Paused transfers keep their slots; this must not prevent other decodes from ever getting memory.
    @Test func manyDecodesForLittleMemoryAllEnd() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.noise(700, 700)
            for index in 0..<4 { origin.route("/\(index).png", .init(body: file)) }
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.maximumReplayBytes = 0
            configuration.decoding.memoryBudget = 700 * 700 * 4 * 2
            configuration.maximumMemoryCacheBytes = 0
            let loader = ImageLoader(configuration: configuration)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<4 {
                    for side in [700, 90] {
                        group.addTask {
                            let request = ImageRequest(origin.url("/\(index).png"), maximumSide: side)
                            return try await loader.image(for: request).pixels.width - side
                        }
                    }
                }
                for try await difference in group { #expect(difference == 0) }
            }
            await loader.coordinator.becomesIdle()
            #expect(await loader.decoder.memoryInUse == 0)
        }
    }

    @Test func decodeThatCanNeverFitStopsTheTransferAtTheHeader() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.png", .init(body: try Samples.file(.png, 500, 500)).stalled(at: .body(200)))
            var configuration = ImageLoader.Configuration.patient
            configuration.decoding.memoryBudget = 100_000
            let loader = ImageLoader(configuration: configuration)
            let error = await #expect(throws: ImageError.self) {
                try await loader.image(for: ImageRequest(origin.url("/a.png")))
            }
            guard case .codec(.overLimit(.memory, _, 100_000), _, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            await origin.openConnections(become: 0)
            await loader.coordinator.becomesIdle()
        }
    }

    /// Neither the unscaled image nor another one takes the place of the requested one.
    @Test func imageThatCannotBeScaledInTheMemoryBudgetIsAnError() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 500, 500)
            origin.route("/a.png", .init(body: file))
            var configuration = ImageLoader.Configuration.patient
            configuration.decoding.memoryBudget = 20_000
            let loader = ImageLoader(configuration: configuration)
            let request = ImageRequest(origin.url("/a.png"), maximumSide: 100)
            func exceedsTheBudget(_ load: () async throws -> Void) async -> Bool {
                do {
                    try await load()
                } catch ImageError.codec(.overLimit(.memory, _, 20_000), _, nil) {
                    return true
                } catch {}
                return false
            }
            #expect(await exceedsTheBudget { _ = try await loader.image(for: request) })
            #expect(await exceedsTheBudget { for try await _ in loader.previews(for: request) {} })
            #expect(loader.imageCache.count == 0)
            #expect(try await loader.data(for: request).bytes == file)
        }
    }

    /// Downloads are faster than decodes; received bytes must not fill the memory.
    @Test func noDownloadsStartWhileUndecodedBytesExceedTheLimit() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            for index in 0..<10 { origin.route("/\(index).png", .init(body: file)) }
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.maximumConcurrentDownloads = 1
            configuration.downloads.maximumBytesInFlight = 3 * file.count
            configuration.decoding.memoryBudget = 1 << 20
            let loader = ImageLoader(configuration: configuration)
            try await loader.decoder.withMemory(1 << 20) {
                let tasks = (0..<10).map { loader.imageTask(for: ImageRequest(origin.url("/\($0).png"))) }
                await loader.coordinator.activity { $0.running == 0 && $0.waiting == 7 && $0.callers == 10 }
                tasks[9].cancel()
            }
            await loader.coordinator.becomesIdle()
            #expect(loader.imageCache.count == 9)
        }
    }

    @Test func decodeErrorDoesNotFailSharedDataRequest() async throws {
        try await withLoopbackOrigin { origin in
            let body = Array("<!doctype html>".utf8) + [UInt8](repeating: 0x20, count: 3 << 20)
            let gate = Gate()
            origin.route("/a", .init(body: body).held(at: .body(100), until: gate))
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.maximumReplayBytes = 0
            let loader = ImageLoader(configuration: configuration)
            let request = ImageRequest(origin.url("/a"))
            async let data = loader.data(for: request)
            await loader.coordinator.callers(reach: 1)
            await #expect(throws: ImageError.self) { try await loader.image(for: request) }
            await #expect(throws: ImageError.self) { try await loader.info(for: request) }
            gate.open()
            let bytes = try await data.bytes
            #expect(bytes == body)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func priorityAppliesIfSetBeforeTheTaskJoins() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let file = try Samples.file(.png)
            for path in ["/busy", "/a", "/b"] { origin.route(path, .init(body: file).held(at: .start, until: gate)) }
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.maximumConcurrentDownloads = 1
            let loader = ImageLoader(configuration: configuration)
            let busy = loader.imageTask(for: ImageRequest(origin.url("/busy")))
            await origin.requests(to: "/busy", reach: 1)
            let first = loader.imageTask(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.callers(reach: 2)
            let second = loader.imageTask(for: ImageRequest(origin.url("/b")))
            second.priority = .high
            // The handle's own turns come after these.
            for _ in 0..<100 { await loader.coordinator.callers(reach: 3) }
            gate.open()
            for task in [busy, first, second] { _ = try await task.value }
            #expect(origin.recordedRequests.map(\.path) == ["/busy", "/b", "/a"])
        }
    }
}
