import HTTPTransport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// The sharing of downloads, with a transport controlled by the test.
@Suite(.timeLimit(.minutes(1)))
struct SharingTests {
    private let transport = ScriptedTransport()
    private let url = "http://example.com/a"

    private func loader(_ change: (inout ImageLoader.Configuration) -> Void = { _ in }) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        change(&configuration)
        return ImageLoader(configuration: configuration, transport: transport)
    }

    /// Returns the number of downloads for `requests` that are made at the same time.
    private func downloads(of requests: [ImageRequest]) async -> Int {
        let loader = loader()
        let tasks = requests.map { loader.dataTask(for: $0) }
        await loader.coordinator.activity { $0.callers == requests.count }
        let count = await loader.coordinator.activity.running
        for task in tasks { task.cancel() }
        return count
    }

    @Test func requestsWithDifferentCachePoliciesDoNotShareADownload() async {
        let policies: [CachePolicy] = [.useProtocol, .reload, .revalidate, .cacheElseLoad, .noStore]
        let requests = policies.map { policy in
            var request = ImageRequest(url)
            request.cachePolicy = policy
            return request
        }
        #expect(await downloads(of: requests) == policies.count)
        #expect(await downloads(of: [requests[1], requests[1]]) == 1)
    }

    @Test func requestsWithTheSameCacheKeyShareADownloadAlthoughTheirURLsDiffer() async {
        func request(_ query: String, key: String?) -> ImageRequest {
            ImageRequest("\(url)?signature=\(query)", cacheKey: key)
        }
        #expect(await downloads(of: [request("1", key: url), request("2", key: url)]) == 1)
        #expect(await downloads(of: [request("1", key: url), ImageRequest(url)]) == 1)
        #expect(await downloads(of: [request("1", key: "a"), request("1", key: "b"), request("1", key: nil)]) == 3)
    }

    @Test func requestsOfDifferentUsersDoNotShareADownloadAlthoughTheirCacheKeysAreEqual() async {
        let requests = ["", "me@", "me:1@", "me:2@", "you:1@"].map { user in
            ImageRequest("http://\(user)example.com/a", cacheKey: "a")
        }
        #expect(await downloads(of: requests + requests) == requests.count)
        let loader = loader()
        #expect(Set(requests.map { loader.cacheKey(for: $0) }).count == requests.count)
    }

    @Test func requestsWithDifferentCookieSettingsDoNotShareADownload() async {
        var withCookies = ImageRequest(url)
        withCookies.handlesCookies = true
        #expect(await downloads(of: [withCookies, ImageRequest(url)]) == 2)
        #expect(await downloads(of: [withCookies, withCookies]) == 1)
    }

    @Test func aFailedDownloadIsNotJoinedWhileItsDecodesEnd() async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let loader = loader()
        let (memory, memoryIsFree) = AsyncStream.makeStream(of: Never.self)
        let taken = OneShot<Void>()
        let decoder = loader.decoder
        let blocker = Task {
            try await decoder.withMemory(decoder.configuration.memoryBudget) {
                taken.resolve(.success(()))
                for await _ in memory {}
            }
        }
        try await taken.value
        defer { memoryIsFree.finish() }

        // The decode has its header, and waits for memory.
        let first = loader.imageTask(for: ImageRequest(url))
        let file = try Samples.file(.png)
        let failing = try #require(await exchanges.next())
        failing.answer(.ok, [:], file)
        _ = await loader.coordinator.activity
        failing.fail(.connectionLost)
        await loader.coordinator.activity { $0.running == 0 }
        #expect(await loader.coordinator.activity.callers == 1)

        let second = loader.dataTask(for: ImageRequest(url))
        try #require(await loader.coordinator.activity.running == 1)
        let good = try #require(await exchanges.next())
        good.answer(.ok, [:], [1, 2, 3])
        good.finish()
        #expect(try await second.value.bytes == [1, 2, 3])

        memoryIsFree.finish()
        try await blocker.value
        await #expect(throws: ImageError.self) { try await first.value }
        await loader.coordinator.becomesIdle()
    }

    /// The result arrives before the coordinator has processed the end of the transfer; so can the next request.
    @Test func requestAfterAnAnswerStartsANewDownload() async throws {
        let loader = loader()
        let memory = loader.decoder.configuration.memoryBudget
        try await loader.decoder.withMemory(memory) {
            var exchanges = transport.exchanges.makeAsyncIterator()
            let image = loader.imageTask(for: ImageRequest(url))
            let first = loader.dataTask(for: ImageRequest(url))
            await loader.coordinator.callers(reach: 2)
            let exchange = try #require(await exchanges.next())
            exchange.answer(.ok, [:], try Samples.file(.png))
            let second = await loader.coordinator.inOneTurn {
                exchange.finish()
                return loader.dataTask(for: ImageRequest(url))
            }
            _ = try await first.value
            // The decode, which waits for memory, keeps the download; no caller joins it.
            let third = loader.dataTask(for: ImageRequest(url))
            await loader.coordinator.callers(reach: 3)
            let next = try #require(await exchanges.next())
            next.answer(.ok, [:], [1, 2, 3])
            next.finish()
            #expect(try await second.value.bytes == [1, 2, 3])
            _ = try? await third.value
            image.cancel()
        }
        await loader.coordinator.becomesIdle()
    }

    /// No caller has received bytes yet.
    @Test func aCompleteBodyIsSharedWhileItsFirstDecodeRuns() async throws {
        let loader = loader()
        let file = try Samples.file(.png)
        let memory = loader.decoder.configuration.memoryBudget
        let image = try await loader.decoder.withMemory(memory) {
            var exchanges = transport.exchanges.makeAsyncIterator()
            let image = loader.imageTask(for: ImageRequest(url))
            let exchange = try #require(await exchanges.next())
            exchange.answer(.ok, [:], file)
            exchange.finish()
            await loader.coordinator.activity { $0.running == 0 && $0.callers == 1 }
            let data = try await loader.data(for: ImageRequest(url))
            #expect(data.bytes == file && data.source == .joined)
            return image
        }
        #expect(try await image.value.source == .network)
        await loader.coordinator.becomesIdle()
    }

    @Test func imagesTasksAndFramesAreServedFromTheMemoryCache() async throws {
        let loader = ImageLoader(transport: InstantTransport(body: try Samples.file(.png)))
        let request = ImageRequest("http://example.com/a@2x.png")
        let image = try await loader.imageTask(for: request).value
        #expect(image.source == .network && image.scale == 2)
        await loader.coordinator.becomesIdle()

        for second in [try await loader.image(for: request), try await loader.imageTask(for: request).value] {
            #expect(second.source == .imageCache && second.pixels == image.pixels && second.scale == 2)
        }
        var frames: [ImagePreview] = []
        for try await frame in loader.previews(for: request) { frames.append(frame) }
        #expect(frames.map(\.isFinal) == [true])
        #expect(frames.first?.response?.source == .imageCache && frames.first?.response?.scale == 2)
    }

    @Test(arguments: [("http://example.com/a.png", 1), ("http://example.com/a@3x.png?b", 3)])
    func responseHasTheDisplayScaleOfItsFileName(url: String, scale: Int) async throws {
        let loader = ImageLoader(transport: InstantTransport(body: try Samples.file(.png)))
        #expect(try await loader.image(for: ImageRequest(url)).scale == scale)
        for try await frame in loader.previews(for: ImageRequest(url, maximumSide: 10)) where frame.isFinal {
            #expect(frame.response?.scale == scale)
        }
    }
}
