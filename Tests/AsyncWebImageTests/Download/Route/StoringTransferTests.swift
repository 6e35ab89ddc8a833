import HTTPTransport
import HTTPTypes
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// A response for which nothing is stored is stored as the transport delivers it.
@Suite(.timeLimit(.minutes(2)))
struct StoringTransferTests {
    private let transport = ScriptedTransport()
    private let storage = DictionaryStorage()
    private let cache: ResponseCache
    private let loader: ImageLoader
    private let request = ImageRequest("http://a.example/a")

    init() {
        let time = ManualTime()
        cache = ResponseCache(.init(), storage: storage, now: { time.now })
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        configuration.downloads.maximumConcurrentDownloads = 1
        loader = ImageLoader(configuration: configuration, transport: transport)
    }

    private func exchange() async throws -> ScriptedTransport.Exchange {
        var exchanges = transport.exchanges.makeAsyncIterator()
        return try #require(await exchanges.next())
    }

    @Test func cacheIsAskedOnceAboutANewURL() async throws {
        let task = loader.dataTask(for: request)
        let exchange = try await exchange()
        exchange.answer(.ok, [.cacheControl: "no-store"], [1, 2, 3])
        exchange.finish()
        #expect(try await task.value.bytes == [1, 2, 3])
        #expect(storage.openedNames.count == 1)
        #expect(cache.statistics == ResponseCache.Statistics(misses: 1))
    }

    @Test func cacheIsAskedAgainAfterAWaitForASlot() async throws {
        let first = loader.dataTask(for: ImageRequest("http://a.example/first"))
        let stalled = try await exchange()
        let second = loader.dataTask(for: request)
        await loader.coordinator.activity { $0.running == 1 && $0.waiting == 1 }
        try await cache.store([4, 5], request.url)
        stalled.answer(.ok, [:], [1])
        stalled.finish()
        #expect(try await first.value.bytes == [1])
        let data = try await second.value
        #expect(data.bytes == [4, 5] && data.source == .disk)
    }

    @Test func responseIsStoredBeforeItIsDelivered() async throws {
        let task = loader.dataTask(for: request)
        let exchange = try await exchange()
        let pieces = (0..<40).map { [UInt8](repeating: $0, count: 10_000) }
        exchange.answer(.ok, [.cacheControl: "max-age=60"])
        for piece in pieces { #expect(await exchange.send(piece)) }
        exchange.finish()
        let data = try await task.value
        #expect(data.source == .network && data.bytes == Array(pieces.joined()))
        #expect(try await cache.stored(request.url) == data.bytes)
    }

    @Test func transferWaitsForASlowDisk() async throws {
        let task = loader.dataTask(for: request)
        let exchange = try await exchange()
        exchange.answer(.ok, [.cacheControl: "max-age=60"])
        let held = HeldCache(cache)
        let piece = [UInt8](repeating: 7, count: 64 << 10)
        var count = 0
        while exchange.offer(piece) { count += 1 }
        #expect(count * piece.count == EntryWriter.queueLimit)
        held.release()
        #expect(await exchange.send(piece))
        exchange.finish()
        #expect(try await task.value.bytes.count == (count + 1) * piece.count)
        #expect(try await cache.stored(request.url)?.count == (count + 1) * piece.count)
    }

    @Test func beginningOfAnInterruptedResponseIsStored() async throws {
        let task = loader.dataTask(for: request)
        let exchange = try await exchange()
        exchange.answer(.ok, [.cacheControl: "max-age=60", .eTag: "\"a\"", .contentLength: "100000"])
        #expect(await exchange.send([UInt8](repeating: 1, count: 50_000)))
        exchange.finish(.failed(TransportError(url: request.url, reason: .connectionLost)))
        await #expect(throws: ImageError.self) { try await task.value }
        await loader.coordinator.becomesIdle()
        await cache.settles()
        #expect(cache.entryCount == 1)
        #expect(try await cache.stored(request.url) == nil)
    }

    @Test func responseOfWhichOnlyTheHeaderIsReadIsNotStored() async throws {
        let image = try Samples.file(.png, 200, 200)
        let task = loader.infoTask(for: request)
        let exchange = try await exchange()
        exchange.answer(.ok, [.cacheControl: "max-age=60", .contentLength: "\(image.count)"], Array(image.dropLast()))
        #expect(try await task.value.header.size == PixelSize(width: 200, height: 200))
        await loader.coordinator.becomesIdle()
        await cache.settles()
        #expect(cache.entryCount == 0)
    }

    @Test func responseIsStoredFromItsFirstByteIfACallerOfTheBodyJoinsOneOfTheHeader() async throws {
        let image = try Samples.file(.png, 200, 200)
        let info = loader.infoTask(for: request)
        let exchange = try await exchange()
        exchange.answer(.ok, [.cacheControl: "max-age=60"], Array(image.prefix(20)))
        let data = loader.dataTask(for: request)
        await loader.coordinator.activity { $0.callers == 2 }
        #expect(await exchange.send(Array(image[20..<60])))
        #expect(await exchange.send(Array(image[60...])))
        exchange.finish()
        #expect(try await info.value.header.size.width == 200)
        #expect(try await data.value.bytes == image)
        #expect(try await cache.stored(request.url) == image)
    }

    @Test func responseWithALateHeaderIsStored() async throws {
        let task = loader.infoTask(for: request)
        let exchange = try await exchange()
        exchange.answer(.ok, [.cacheControl: "max-age=60", .eTag: "\"a\"", .contentLength: "1000000"], [0xFF, 0xD8])
        let segment = [0xFF, 0xE5, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 65_533)
        for _ in 0..<5 { #expect(await exchange.send(segment)) }
        exchange.finish(.failed(TransportError(url: request.url, reason: .connectionLost)))
        await #expect(throws: ImageError.self) { try await task.value }
        await loader.coordinator.becomesIdle()
        await cache.settles()
        #expect(cache.entryCount == 1)
    }

    @Test func textOfAnErrorIsStoredForACallerOfTheHeader() async throws {
        let task = loader.infoTask(for: request)
        let exchange = try await exchange()
        exchange.answer(.notFound, [.cacheControl: "max-age=60"], [1, 2, 3])
        exchange.finish()
        await #expect(throws: ImageError.self) { try await task.value }
        await cache.settles()
        #expect(try await cache.stored(request.url) == [1, 2, 3])
    }

    @Test func transferIsReleasedAfterItsEnd() async throws {
        let task = loader.dataTask(for: request)
        let exchange = try await exchange()
        exchange.answer(.ok, [.cacheControl: "max-age=60"], [1])
        exchange.finish()
        #expect(try await task.value.bytes == [1])
        await loader.coordinator.becomesIdle()
        #expect(exchange.isLetGo)
    }

    @Test func canceledDownloadCancelsTheTransfer() async throws {
        let task = loader.dataTask(for: request)
        let exchange = try await exchange()
        exchange.answer(.ok, [.cacheControl: "max-age=60"], [1])
        task.cancel()
        await loader.coordinator.becomesIdle()
        #expect(await !exchange.send([1]))
        #expect(cache.entryCount == 0)
    }
}
