import AsyncWebImage
import ImageEncoders

extension Files.Site {
    private func load(_ cache: ResponseCache?, concurrency: Int = 1) -> CacheLoad {
        CacheLoad(origin.url("fresh/\(picture)?n="), concurrency: concurrency, cache: cache)
    }

    private func cache(_ name: String) throws -> ResponseCache {
        try ResponseCache(.init(directory: "\(folder)/\(name)", maximumBytes: 4 << 30))
    }

    private func newCache() throws -> ResponseCache {
        try cache(String(UInt64.random(in: 0...UInt64.max), radix: 16))
    }

    @Sendable private static func file(_ loader: ImageLoader, _ url: String) async throws -> ResponseSource {
        let request = ImageRequest(url, maximumSide: Files.maximumSide)
        let file = try await loader.file(for: request, as: OutputRule(.jpeg()))
        try Mismatch.check("columns", file.size.width, is: Files.maximumSide)
        return file.source
    }

    /// Stores thumbnails for ``firstHit(_:)``.
    func store(_ count: Int) async throws {
        let cache = try cache("stored")
        _ = try await load(cache, concurrency: 16).run(0..<count, from: .network, Self.file)
        await cache.flush()
    }

    /// Makes thumbnails one after the other, each for all callers at the same time.
    func newThumbnails(_ subject: Files.Case) async throws -> Measurements {
        let callers = subject.work.callers
        let load = load(try newCache())
        let visit: @Sendable (ImageLoader, String) async throws -> ResponseSource = { loader, url in
            try await withThrowingTaskGroup { group in
                for _ in 0..<callers { group.addTask { try await Self.file(loader, url) } }
                for try await source in group where source != .network && source != .joined { return source }
                return .network
            }
        }
        let count = subject.requests
        _ = try await load.run(0..<count / 5, from: .network, visit)
        let usage = try await load.run(count..<2 * count, from: .network, visit).usage
        var measurements = Measurements()
        measurements[.cpuPerRequest] = usage.cpu.microseconds / Double(count)
        return measurements
    }

    /// Opens the cache with stored thumbnails, and loads one of them.
    func firstHit(_ subject: Files.Case) async throws -> Measurements {
        let started = ContinuousClock.now
        let load = load(try cache("stored"))
        _ = try await load.run(subject.requests / 2..<subject.requests / 2 + 1, from: .disk, Self.file)
        var measurements = Measurements()
        measurements[.firstHit] = (.now - started).milliseconds
        return measurements
    }

    /// Reads the headers of images that no request has been made for.
    func headers(_ subject: Files.Case) async throws -> Measurements {
        let cache = subject.work == .cachedInfo ? try newCache() : nil
        let load = load(cache, concurrency: 16)
        let visit: @Sendable (ImageLoader, String) async throws -> ResponseSource = { loader, url in
            let info = try await loader.info(for: ImageRequest(url))
            try Mismatch.check("columns", info.header.size.width, is: 1_600)
            return info.source
        }
        let count = subject.requests
        _ = try await load.run(0..<count / 5, from: .network, visit)
        await cache?.flush()
        let before = cache?.byteCount
        let usage = try await load.run(count..<2 * count, from: .network, visit).usage
        var measurements = Measurements()
        measurements[.cpuPerRequest] = usage.cpu.microseconds / Double(count)
        await cache?.flush()
        if let cache, let before { measurements[.storedPerURL] = Double(cache.byteCount - before) / Double(count) }
        return measurements
    }
}
