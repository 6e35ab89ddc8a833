import AsyncWebImage
import ImageCodecs
import HTTPTransport
import LoopbackOrigin
import Testing

/// The sharing of downloads by callers, against a real origin.
@Suite(.timeLimit(.minutes(5)))
struct DownloadCoordinatorTests {
    func loader(slots: Int = 6, _ order: DownloadConfiguration.ExecutionOrder = .fifo, cache: Int = 0) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = slots
        configuration.downloads.executionOrder = order
        configuration.maximumMemoryCacheBytes = cache
        return ImageLoader(configuration: configuration)
    }

    @Test func twoSizesOfOneImageMakeOneRequestAndTwoDecodes() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a.png", .init(body: try Samples.file(.png, 300, 200)).held(at: .body(50), until: gate))
            let loader = loader()
            async let large = loader.image(for: ImageRequest(origin.url("/a.png")))
            async let small = loader.image(for: ImageRequest(origin.url("/a.png"), maximumSide: 30))
            async let data = loader.data(for: ImageRequest(origin.url("/a.png")))
            await loader.coordinator.callers(reach: 3)
            gate.open()

            let answers = try await (large, small, data)
            #expect(answers.0.pixels.size == PixelSize(width: 300, height: 200))
            #expect(answers.1.pixels.size == PixelSize(width: 30, height: 20))
            #expect(answers.2.bytes == (try Samples.file(.png, 300, 200)))
            #expect(origin.counts.requests["/a.png"] == 1)
        }
    }

    @Test func requestsWithDifferentHeaderFieldsDoNotShareADownload() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a") { .init(body: Array(($0.headerFields["Authorization"] ?? "none").utf8)) }
            let loader = loader()
            let url = origin.url("/a")
            async let first = loader.data(for: ImageRequest(url, headerFields: [.authorization: "Bearer one"]))
            async let second = loader.data(for: ImageRequest(url, headerFields: [.authorization: "Bearer two"]))

            let answers = try await (first.bytes, second.bytes)
            #expect(answers.0 == Array("Bearer one".utf8))
            #expect(answers.1 == Array("Bearer two".utf8))
        }
    }

    @Test func requestsWithDifferentCredentialsDoNotShareADownload() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a") { .init(body: Array(($0.headerFields["Authorization"] ?? "none").utf8)) }
            let loader = loader()
            let url = origin.url("/a")
            async let first = loader.data(for: ImageRequest(url, credential: .bearer("one")))
            async let second = loader.data(for: ImageRequest(url, credential: .basic(user: "me", password: "secret")))
            async let third = loader.data(for: ImageRequest(url))

            let answers = try await (first.bytes, second.bytes, third.bytes)
            #expect(answers.0 == Array("Bearer one".utf8))
            #expect(answers.1 == Array("Basic bWU6c2VjcmV0".utf8))
            #expect(answers.2 == Array("none".utf8))
        }
    }

    @Test func callersJoiningAroundCompletionAllGetTheImage() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.jpeg)
            origin.route("/a.jpg", .init(body: file))
            let loader = loader()
            let expected = try StreamingDecoder.decode(file.span).pixels
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<1_000 {
                    group.addTask {
                        for _ in 0..<(index % 50) { await Task.yield() }
                        if index % 2 == 0 {
                            return try await loader.image(for: ImageRequest(origin.url("/a.jpg"))).pixels == expected
                        }
                        return try await loader.data(for: ImageRequest(origin.url("/a.jpg"))).bytes == file
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func finishedImagesComeFromTheMemoryCache() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)))
            let loader = loader(cache: 1 << 20)
            let first = try await loader.image(for: ImageRequest(origin.url("/a.jpg")))
            let second = try await loader.image(for: ImageRequest(origin.url("/a.jpg")))

            #expect(second.source == .imageCache && second.pixels == first.pixels)
            #expect(origin.counts.requests["/a.jpg"] == 1)
        }
    }

    @Test func joiningCallerGetsTheLatestPreviewAtOnce() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 400, 300)
            let gate = Gate()
            origin.route("/a.png", .init(body: file).held(at: .body(file.count / 2), until: gate))
            let loader = loader()
            let request = ImageRequest(origin.url("/a.png"))
            var first = loader.previews(for: request).makeAsyncIterator()
            let shown = try #require(try await first.next())

            var second = loader.previews(for: request).makeAsyncIterator()
            let replayed = try #require(try await second.next())

            #expect(!replayed.isFinal && replayed.completeRows >= shown.completeRows)
            gate.open()
            while let frame = try await second.next() { #expect(frame.completeRows >= replayed.completeRows) }
            #expect(origin.counts.requests["/a.png"] == 1)
        }
    }

    @TaskLocal private static var caller = "nobody"

    /// Records the priority and the task-local value with which it is called.
    private struct Witness: Transport, RequestModifier {
        typealias Testimony = (priority: TaskPriority, caller: String)
        let testimonies: AsyncStream<Testimony>.Continuation

        func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
            testimonies.yield((Task.currentPriority, caller))
            return InstantTransport(body: [1]).start(request, receiver: receiver)
        }

        func modify(_ request: TransportRequest) async throws -> TransportRequest {
            testimonies.yield((Task.currentPriority, caller))
            return request
        }
    }

    @Test(arguments: [true, false], [true, false])
    func downloadInheritsNeitherPriorityNorTaskLocals(hasModifier: Bool, isAwaited: Bool) async throws {
        let (testimonies, continuation) = AsyncStream.makeStream(of: Witness.Testimony.self)
        let witness = Witness(testimonies: continuation)
        var configuration = ImageLoader.Configuration.patient
        if hasModifier { configuration.downloads.requestModifier = witness }
        let loader = ImageLoader(configuration: configuration, transport: witness)
        Task(priority: .background) {
            let request = ImageRequest("http://example.com/a")
            try await Self.$caller.withValue("the first") {
                if isAwaited { _ = try await loader.data(for: request) } else { _ = loader.dataTask(for: request) }
            }
        }
        var count = 0
        for await testimony in testimonies {
            #expect(testimony.priority >= .medium && testimony.caller == "nobody")
            count += 1
            if count == (hasModifier ? 2 : 1) { break }
        }
    }

    @Test func canceledWaitForActivityRecordsTheLastActivity() async {
        let loader = loader()
        await withKnownIssue {
            let wait = Task { await loader.coordinator.callers(reach: 1) }
            wait.cancel()
            await wait.value
        } matching: { issue in
            issue.comments.contains { $0.rawValue.contains("callers: 0") }
        }
    }
}
