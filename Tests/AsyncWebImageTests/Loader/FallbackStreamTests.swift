import ImageEncoders
import ImageTestSupport
import LoopbackOrigin
import Testing

@testable import AsyncWebImage

/// Previews and frames of requests with further URLs.
@Suite(.timeLimit(.minutes(1)))
struct FallbackStreamTests {
    private let loader = ImageLoader(configuration: .patient)

    private func request(_ urls: String...) -> ImageRequest {
        var request = ImageRequest(urls[0])
        request.fallbackURLs = Array(urls.dropFirst())
        return request
    }

    private func all<Element>(_ stream: AsyncThrowingStream<Element, any Error>) async throws -> [Element] {
        var elements: [Element] = []
        for try await element in stream { elements.append(element) }
        return elements
    }

    /// Returns the number of elements, and the error after them.
    private func outcome<Element>(
        _ stream: AsyncThrowingStream<Element, any Error>
    ) async -> (count: Int, error: ImageError?) {
        var count = 0
        do {
            for try await _ in stream { count += 1 }
            return (count, nil)
        } catch {
            return (count, error as? ImageError)
        }
    }

    @Test func previewsAndFramesAreThoseOfTheFirstURLThatHasAny() async throws {
        try await withLoopbackOrigin { origin in
            let frames = try TestImages.wanderingSquare(3)
            origin.route("/missing", .init(status: 404))
            origin.route("/page", .init(body: Array("<html></html>".utf8)))
            origin.route("/a", .init(body: try animation(of: frames, as: .gif)))
            let request = request(
                origin.url("/missing"), "not a URL", origin.url("/page"), origin.url("/a"), origin.url("/never"))
            #expect(try await all(loader.previews(for: request)).last?.response?.head.url.string == origin.url("/a"))
            #expect(try await all(loader.animationFrames(for: request)).map(\.index) == [0, 1, 2])
            let (previews, task) = (loader.previewTask(for: request), loader.animationFrameTask(for: request))
            #expect(try await all(previews.stream).last?.isFinal == true)
            #expect(try await all(task.stream).count == 3)
            #expect(task.head?.url.string == origin.url("/a") && task.request == request)
            #expect(origin.counts.requests["/never"] == nil)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func noFurtherURLIsRequestedAfterAFrame() async throws {
        try await withLoopbackOrigin { origin in
            let file = try animation(of: try TestImages.wanderingSquare(4), as: .gif)
            origin.route("/cut", LoopbackOrigin.Response(body: file).cut(at: .body(file.count - 4)))
            origin.route("/a", .init(body: file))
            let request = request(origin.url("/cut"), origin.url("/a"))
            for isHandle in [false, true] {
                let stream =
                    isHandle ? loader.animationFrameTask(for: request).stream : loader.animationFrames(for: request)
                let (count, error) = await outcome(stream)
                #expect(count > 0 && error?.url == origin.url("/cut"))
                let rest = await outcome(stream)
                #expect(rest.count == 0 && rest.error == nil)
            }
            #expect(origin.counts.requests["/a"] == nil)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func lastErrorIsThrownOnce() async throws {
        try await withLoopbackOrigin { origin in
            for (path, status) in [("/a", 404), ("/b", 410)] { origin.route(path, .init(status: status)) }
            let request = request(origin.url("/a"), origin.url("/b"))
            for isHandle in [false, true] {
                let stream = isHandle ? loader.previewTask(for: request).stream : loader.previews(for: request)
                let (count, error) = await outcome(stream)
                #expect(count == 0 && error?.httpStatus == 410)
                let rest = await outcome(stream)
                #expect(rest.count == 0 && rest.error == nil)
            }
            #expect(origin.counts.totalRequests == 4)
        }
    }

    @Test func handleControlsTheLoadOfEachURL() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            let file = try Samples.file(.png)
            origin.route("/missing", .init(status: 404))
            origin.route("/a", LoopbackOrigin.Response(body: file).held(at: .body(100), until: gate))
            let task = loader.previewTask(for: request(origin.url("/missing"), origin.url("/a")))
            // The first download does not wait for the consumer.
            await origin.requests(to: "/missing", reach: 1)
            task.priority = .high
            let last = Task { try await all(task.stream).last }
            var received = 0
            for await progress in task.progress {
                if received == 0, progress.received > 0 { gate.open() }
                received = progress.received
            }
            #expect(received == file.count && task.priority == .high)
            #expect(try await last.value?.isFinal == true)
            for await _ in task.progress {}
        }
    }

    @Test func canceledOrReleasedHandleLeavesTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/missing", .init(status: 404))
            origin.route("/a", LoopbackOrigin.Response(body: try Samples.file(.png)).stalled(at: .body(100)))
            let request = request(origin.url("/missing"), origin.url("/a"))
            let task = loader.previewTask(for: request)
            let previews = Task { try await all(task.stream) }
            await origin.requests(to: "/a", reach: 1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await previews.value }
            await loader.coordinator.becomesIdle()
            task.cancel()

            let stream = loader.previewTask(for: request).stream
            let consumer = Task { for try await _ in stream { break } }
            await origin.requests(to: "/a", reach: 2)
            consumer.cancel()
            await loader.coordinator.becomesIdle()
            _ = loader.previewTask(for: self.request(origin.url("/a"), origin.url("/missing")))
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func deadlineCoversAllURLs() async throws {
        let (transport, clock) = (ScriptedTransport(), ManualClock())
        let loader = ImageLoader(configuration: .patient, transport: transport, clock: clock)
        var limited = request("http://a/a", "http://a/b")
        limited.deadline = .seconds(10)
        let task = loader.previewTask(for: limited)
        var exchanges = transport.exchanges.makeAsyncIterator()
        let first = try #require(await exchanges.next())
        clock.advance(by: .seconds(6))
        first.answer(.notFound)
        first.finish()
        let previews = Task { try await all(task.stream) }
        _ = try #require(await exchanges.next())
        await clock.sleeps(until: .seconds(10))
        clock.advance(by: .seconds(4))
        let error = await #expect(throws: ImageError.self) { try await previews.value }
        #expect(error?.code == .deadline)
        await loader.coordinator.becomesIdle()
    }
}
