import AsyncWebImage
import ImageEncoders

extension Cache.Site {
    private func url(_ bytes: Int) -> String { origin.url("fresh/\(FixtureFolder.bodyName(bytes: bytes))?n=") }

    private func cache(_ name: String, maximumBytes: Int = 4 << 30) throws -> ResponseCache {
        try ResponseCache(.init(directory: "\(folder)/\(name)", maximumBytes: maximumBytes))
    }

    /// Returns a new name for the folder of a cache.
    ///
    /// Folders are removed after all measurements, because a file system may take longer to create files after others
    /// have been removed.
    private func newName() -> String { String(UInt64.random(in: 0...UInt64.max), radix: 16) }

    /// Stores small responses for ``firstHit(_:)``.
    func prepare(entries: Int) async throws {
        let cache = try cache("many")
        let load = CacheLoad(url(Cache.tinyBytes), concurrency: 16, cache: cache)
        _ = try await load.run(0..<entries, bodyBytes: Cache.tinyBytes, from: .network)
        await cache.flush()
    }

    /// Measures the rate and cost of one kind of response.
    func rate(_ subject: Cache.Case) async throws -> Measurements {
        let cache = subject.work == .download ? nil : try self.cache(newName())
        let count = subject.requests
        // Every measured URL is distinct; responses that the cache should contain are stored first.
        let filling = CacheLoad(url(Cache.bodyBytes), concurrency: 16, cache: cache)
        let isStored = subject.work == .hit || subject.work == .revalidate
        _ = try await filling.run(
            0..<(isStored ? count : count / 5), bodyBytes: Cache.bodyBytes, from: .network)
        let load = CacheLoad(
            url(Cache.bodyBytes), concurrency: subject.concurrency, cache: cache,
            policy: subject.work == .revalidate ? .revalidate : .useProtocol)
        let source: ResponseSource =
            switch subject.work {
            case .hit: .disk
            case .revalidate: .revalidated
            default: .network
            }
        if isStored { _ = try await load.run(0..<count / 5, bodyBytes: Cache.bodyBytes, from: source) }
        let numbers = isStored ? 0..<count : count..<2 * count
        return try await load.run(numbers, bodyBytes: Cache.bodyBytes, from: source).measurements
    }

    /// Measures files that were made, and stored, before.
    func fileHit(_ subject: Cache.Case) async throws -> Measurements {
        let cache = try self.cache(newName())
        let load = CacheLoad(origin.url("fresh/\(picture)?n="), concurrency: subject.concurrency, cache: cache)
        let rule = OutputRule(.jpeg())
        let numbers = 0..<subject.requests
        func visit(from source: ResponseSource) async throws -> CacheLoad.Run {
            try await load.run(numbers, from: source) { loader, url in
                let file = try await loader.file(for: ImageRequest(url, maximumSide: 128), as: rule)
                try Mismatch.check("pixels", file.size.width, is: 128)
                return file.source
            }
        }
        _ = try await visit(from: .network)
        _ = try await visit(from: .disk)
        return try await visit(from: .disk).measurements
    }

    /// Measures small responses while large ones are loaded continuously.
    func besideLarge(_ subject: Cache.Case) async throws -> Measurements {
        let cache = try cache(newName())
        let fill = CacheLoad(url(Cache.bodyBytes), concurrency: 16, cache: cache)
        _ = try await fill.run(0..<1_000, bodyBytes: Cache.bodyBytes, from: .network)
        let fillLarge = CacheLoad(url(Cache.largeBytes), concurrency: 1, cache: cache)
        _ = try await fillLarge.run(0..<2, bodyBytes: Cache.largeBytes, from: .network)
        let small = CacheLoad(url(Cache.bodyBytes), concurrency: subject.concurrency - 1, cache: cache)
        let large = CacheLoad(url(Cache.largeBytes), concurrency: 1, cache: cache)
        let loading = Task {
            while !Task.isCancelled { _ = try await large.run(0..<2, bodyBytes: Cache.largeBytes, from: .disk) }
        }
        var latencies: [UInt64] = []
        for _ in 0..<max(1, subject.requests / 1_000) {
            latencies += try await small.run(0..<1_000, bodyBytes: Cache.bodyBytes, from: .disk).latencies
        }
        loading.cancel()
        _ = await loading.result
        var measurements = Measurements()
        let percentiles = Percentiles(nanoseconds: latencies)
        measurements[.p50] = percentiles.milliseconds(50)
        measurements[.p99] = percentiles.milliseconds(99)
        return measurements
    }

    /// Counts the large bodies that are in the cache after they were downloaded once.
    func largeBodies(_ subject: Cache.Case) async throws -> Measurements {
        var least = subject.requests
        for bytes in Cache.storedBytes {
            let cache = try cache(newName())
            let load = CacheLoad(url(bytes), concurrency: 1, cache: cache)
            _ = try await load.run(0..<subject.requests, bodyBytes: bytes, from: .network)
            var stored = 0
            for number in 0..<subject.requests {
                let data = try await load.loader.data(for: ImageRequest("\(load.prefix)\(number)"))
                if data.source == .disk { stored += 1 }
            }
            least = min(least, stored)
        }
        var measurements = Measurements()
        measurements[.stored] = Double(least)
        return measurements
    }

    /// Opens a cache with many entries and loads one of them.
    func firstHit(_ subject: Cache.Case) async throws -> Measurements {
        let started = ContinuousClock.now
        let load = CacheLoad(url(Cache.tinyBytes), concurrency: 1, cache: try cache("many"))
        _ = try await load.run(
            subject.requests / 2..<subject.requests / 2 + 1, bodyBytes: Cache.tinyBytes, from: .disk)
        var measurements = Measurements()
        measurements[.firstHit] = (.now - started).milliseconds
        measurements[.peakMemory] = PeakMemory.bytes().map(Double.init)
        return measurements
    }

    /// Repeatedly opens a full cache, stores a few responses, and abandons it immediately.
    func shortRuns(_ subject: Cache.Case) async throws -> Measurements {
        let configuration = ResponseCache.Configuration(
            directory: "\(folder)/\(newName())", maximumBytes: 64 << 20)
        for run in 0...subject.requests {
            let load = CacheLoad(
                url(Cache.bodyBytes), concurrency: subject.concurrency, cache: try ResponseCache(configuration))
            let numbers = run == 0 ? 0..<3_000 : 3_000 + 20 * run..<3_020 + 20 * run
            _ = try await load.run(numbers, bodyBytes: Cache.bodyBytes, from: .network)
        }
        let cache = try ResponseCache(configuration)
        var measurements = Measurements()
        measurements[.sizeToLimit] = Double(cache.byteCount) / Double(configuration.maximumBytes)
        return measurements
    }
}

extension CacheLoad.Run {
    fileprivate var measurements: Measurements {
        var measurements = Measurements()
        let percentiles = Percentiles(nanoseconds: latencies)
        measurements[.requestsPerSecond] = Double(latencies.count) / usage.wall.seconds
        measurements[.cpuPerRequest] = usage.cpu.microseconds / Double(latencies.count)
        measurements[.p50] = percentiles.milliseconds(50)
        measurements[.p99] = percentiles.milliseconds(99)
        measurements[.peakMemory] = PeakMemory.bytes().map(Double.init)
        return measurements
    }
}
