import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// A response whose body does not have the declared length is never stored.
@Suite(.timeLimit(.minutes(1)))
struct StoredLengthTests {
    private let url = "http://example.com/a"
    private let transport = ScriptedTransport()

    private func loader(_ cache: ResponseCache, transport: (any Transport)? = nil) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        configuration.downloads.maximumResumableBytes = 0
        return ImageLoader(configuration: configuration, transport: transport)
    }

    /// The fields of a response that may be stored, and continued if it breaks off.
    private func fields(length: String) -> HTTPFields {
        [.cacheControl: "max-age=60", .eTag: "\"new\"", .contentLength: length]
    }

    @Test(arguments: [19_999, 20_001])
    func bodyThatContradictsContentLengthIsNotStored(length: Int) async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let cache = try ResponseCache.test(nil, ManualTime())
        try await cache.store([1, 2, 3], url, [.cacheControl: "max-age=0", .eTag: "\"old\""])
        let task = loader(cache, transport: transport).dataTask(for: ImageRequest(url))
        let exchange = try #require(await exchanges.next())
        exchange.answer(.ok, fields(length: "20000"), [UInt8](repeating: 7, count: length))
        exchange.finish()
        await #expect(throws: ImageError.self) { try await task.value }
        await cache.settles()
        // The body is stored neither as a whole nor as a part, and the earlier entry remains.
        #expect(try await cache.stored(url) == [1, 2, 3])
        #expect(cache.entryCount == 1)
    }

    @Test func bodyThatMatchesContentLengthIsStored() async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let cache = try ResponseCache.test(nil, ManualTime())
        let task = loader(cache, transport: transport).dataTask(for: ImageRequest(url))
        let exchange = try #require(await exchanges.next())
        exchange.answer(.ok, fields(length: "20000"), [UInt8](repeating: 7, count: 20_000))
        exchange.finish()
        _ = try await task.value
        await cache.settles()
        #expect(try await cache.stored(url)?.count == 20_000)
    }

    private struct Inversion: BodyTransform, BodyTransformer {
        func transformer(for head: ResponseHead) async throws -> (any BodyTransformer)? { self }
        func transform(_ bytes: [UInt8]) async throws -> [UInt8] { bytes.map { ~$0 } + [0] }
        func finish() async throws -> [UInt8] { [] }
    }

    @Test(arguments: [9, 10, 11])
    func transformedBodyIsCheckedByItsOriginalLength(length: Int) async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let cache = try ResponseCache.test(nil, ManualTime())
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        configuration.downloads.bodyTransform = Inversion()
        let loader = ImageLoader(configuration: configuration, transport: transport)
        let task = loader.dataTask(for: ImageRequest(url))
        let exchange = try #require(await exchanges.next())
        exchange.answer(.ok, fields(length: "10"), [UInt8](repeating: 255, count: length))
        exchange.finish()
        if length == 10 {
            #expect(try await task.value.bytes == [UInt8](repeating: 0, count: 11))
        } else {
            await #expect(throws: ImageError.self) { try await task.value }
        }
        await cache.settles()
        #expect(try await cache.stored(url)?.count == (length == 10 ? 10 : nil))
    }

    /// Heads whose length contradicts itself.
    static let contradictions = [
        "Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello",
        "Content-Length: 7\r\nContent-Length: 5\r\n\r\nhello",
    ]

    @Test(arguments: contradictions)
    func contradictoryContentLengthIsRejectedEachTime(_ rest: String) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n" + rest))
            let cache = try ResponseCache.test(nil, ManualTime())
            for ordinal in 1...2 {
                await #expect(throws: ImageError.self) {
                    try await loader(cache).data(for: ImageRequest(origin.url("/a")))
                }
                await cache.settles()
                #expect(cache.byteCount == 0)
                #expect(origin.counts.requests["/a"] == ordinal)
            }
        }
    }

    /// Chunks override a length (RFC 9112, section 6.3).
    @Test(arguments: [3, 9])
    func bodyInChunksIsStoredWhateverItsContentLength(length: Int) async throws {
        try await withLoopbackOrigin { origin in
            let framing = "Content-Length: \(length)\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            origin.route("/a", .raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n" + framing))
            let cache = try ResponseCache.test(nil, ManualTime())
            for _ in 1...2 {
                let data = try await loader(cache).data(for: ImageRequest(origin.url("/a")))
                #expect(data.bytes == Array("hello".utf8))
                await cache.settles()
            }
            #expect(origin.counts.requests["/a"] == 1)
        }
    }
}
