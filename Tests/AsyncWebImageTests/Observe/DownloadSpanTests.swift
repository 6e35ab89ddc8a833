#if Tracing
import InMemoryTracing
import LoopbackOrigin
import Testing
import Tracing

@testable import AsyncWebImage

/// The spans of downloads, by a tracer of the test's own.
@Suite(.timeLimit(.minutes(2)))
struct DownloadSpanTests {
    private let tracer = InMemoryTracer()
    private let clock = ManualClock()

    private func loader(
        injectsContext: Bool = false, _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.tracing = TracingConfiguration(tracer: tracer, injectsContext: injectsContext)
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration, clock: clock)
    }

    private func onlySpan() throws -> FinishedInMemorySpan {
        let spans = tracer.finishedSpans.filter { $0.operationName == "GET" }
        try #require(spans.count == 1)
        return spans[0]
    }

    @Test func downloadSpanIsAChildOfItsCaller() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1, 2, 3]))
            let loader = loader()
            let url = origin.url("/a?b=c")
            let caller = try await tracer.withSpan("page") { page in
                _ = try await loader.data(
                    for: ImageRequest(url.replacing("http://", with: "http://user:secret@")))
                return page.spanID
            }
            await loader.coordinator.becomesIdle()
            let span = try onlySpan()
            #expect(span.kind == .client && span.parentSpanID == caller && span.status == nil && span.errors.isEmpty)
            #expect(span.attributes.get("http.request.method") == .string("GET"))
            #expect(span.attributes.get("url.full") == .string(origin.url("/a?…")))
            #expect(span.attributes.get("server.address") == .string("127.0.0.1"))
            #expect(span.attributes.get("http.response.status_code") == .int64(200))
            #expect(span.attributes.get("http.response.body.size") == .int64(3))
            #expect(span.attributes.get("network.protocol.version") == .string("1.1"))
            #expect(tracer.activeSpans.isEmpty)
        }
    }

    @Test func spanRecordsRetriesAsEventsAndTheLastError() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", [.init(status: 503), .init(body: [1, 2]).cut(at: .body(1))])
            let loader = loader { $0.retry = ExponentialBackoff(maximumAttempts: 2) }
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            _ = await clock.nextSleep()
            clock.advance(by: .seconds(100))
            await #expect(throws: ImageError.self) { try await task.value }
            await loader.coordinator.becomesIdle()
            let span = try onlySpan()
            #expect(span.events.map(\.name) == ["retry"])
            #expect(span.events.first?.attributes.get("error.type") == .string("503"))
            #expect(span.attributes.get("http.request.resend_count") == .int64(1))
            #expect(span.attributes.get("error.type") == .string("truncated"))
            #expect(span.status?.code == .error)
        }
    }

    @Test func sharedDownloadHasOneSpanWithInjectedContext() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a", .init(body: [1]).held(at: .start, until: gate))
            let loader = loader(injectsContext: true)
            let (first, second) = (tracer.startSpan("first"), tracer.startSpan("second"))
            let tasks = [first, second].map { span in
                ServiceContext.withValue(span.context) { loader.dataTask(for: ImageRequest(origin.url("/a"))) }
            }
            await loader.coordinator.callers(reach: 2)
            gate.open()
            for task in tasks { _ = try await task.value }
            await loader.coordinator.becomesIdle()
            let span = try onlySpan()
            #expect(span.parentSpanID == first.spanID)
            #expect(origin.counts.totalRequests == 1)
            let sent = tracer.performedContextInjections
            #expect(sent.count == 1 && sent.first?.context.inMemorySpanContext?.spanID == span.spanID)
        }
    }

    @Test func traceContextIsSentOnlyIfConfigured() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a") { request in
                .init(body: Array((request.headerFields[InMemoryTracer.spanIDKey] ?? "none").utf8))
            }
            let silent = loader()
            let none = try await silent.data(for: ImageRequest(origin.url("/a")))
            #expect(none.bytes == Array("none".utf8))
            await silent.coordinator.becomesIdle()
            tracer.clearFinishedSpans()
            let telling = loader(injectsContext: true)
            let told = try await telling.data(for: ImageRequest(origin.url("/a")))
            await telling.coordinator.becomesIdle()
            #expect(try told.bytes == Array(onlySpan().spanID.utf8))
        }
    }

    @Test func spanOfCanceledDownloadHasNoError() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]).stalled(at: .start))
            let loader = loader()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            await origin.requests(to: "/a", reach: 1)
            task.cancel()
            await loader.coordinator.becomesIdle()
            let span = try onlySpan()
            #expect(span.events.map(\.name) == ["cancelled"] && span.status == nil)
            #expect(tracer.activeSpans.isEmpty)
        }
    }

    @Test func encodingAndTheWaitForMemoryAreChildrenOfTheDecode() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            let loader = loader()
            let request = ImageRequest(origin.url("/a"))
            _ = try await loader.file(for: request, as: OutputRule(.webp()))
            await loader.coordinator.becomesIdle()
            func spans(_ name: String) -> [FinishedInMemorySpan] {
                tracer.finishedSpans.filter { $0.operationName == name }
            }
            #expect(spans("encode").map(\.parentSpanID) == spans("decode").map(\.spanID))
            #expect(spans("encode").count == 1 && spans("wait for memory").isEmpty)

            tracer.clearFinishedSpans()
            let decoder = loader.decoder
            let waiting = try await decoder.withMemory(decoder.configuration.memoryBudget) {
                let task = loader.imageTask(for: request)
                while await decoder.waitingCount == 0 { await Task.yield() }
                return task
            }
            _ = try await waiting.value
            await loader.coordinator.becomesIdle()
            #expect(spans("wait for memory").map(\.parentSpanID) == spans("decode").map(\.spanID))
            #expect(spans("wait for memory").count == 1 && spans("encode").isEmpty)
        }
    }

    @Test func loaderWithoutTracingHasNoSpans() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]))
            let loader = ImageLoader(configuration: .patient)
            _ = try await tracer.withSpan("page") { _ in try await loader.data(for: ImageRequest(origin.url("/a"))) }
            #expect(tracer.finishedSpans.map(\.operationName) == ["page"])
        }
    }
}
#endif
