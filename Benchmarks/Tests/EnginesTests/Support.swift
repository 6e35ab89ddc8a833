import Engines
import ImageCodecs
import LoopbackOrigin
import Testing

typealias Response = LoopbackOrigin.Response

extension EngineName {
    /// The engines that fetch single URLs.
    static let single = allCases.filter { $0.type != nil }
    static let sharing = allCases.filter { $0.type is any SharingEngine.Type }
    static let ofImages = allCases.filter { $0.type is any ImageEngine.Type }
    static let progressive = allCases.filter { $0.type is any ProgressiveEngine.Type }
}

/// Runs `body` with an origin and an engine, which are shut down when it ends.
func withEngine(
    _ name: EngineName, concurrency: Int = 6, _ body: (any Engine, LoopbackOrigin) async throws -> Void
) async throws {
    try await withLoopbackOrigin { origin in
        let engine = try #require(name.type).init(concurrency: concurrency)
        do {
            try await body(engine, origin)
        } catch {
            try? await engine.shutdown()
            throw error
        }
        try await engine.shutdown()
    }
}

/// A caller of any sharing engine.
struct Caller: Sendable {
    let value: @Sendable () async throws -> Int
    let cancel: @Sendable () -> Void
}

extension SharingEngine {
    func caller(of url: String) -> Caller {
        let handle = start(url)
        return Caller(value: { try await value(of: handle) }, cancel: { cancel(handle) })
    }

    /// Returns once this number of callers wait, or once the test exceeds its time limit.
    func callers(become count: Int) async {
        while await callerCount != count, !Task.isCancelled { await Task.yield() }
    }

    /// Returns once no download is left, or once the test exceeds its time limit.
    func becomesIdle() async {
        while await downloadCount > 0, !Task.isCancelled { await Task.yield() }
    }
}

/// Returns a picture in which wrong rows or columns are detected.
func picture(_ width: Int, _ height: Int) throws -> PixelBuffer {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(width * height * 4)
    for y in 0..<height {
        for x in 0..<width { bytes += [UInt8(x * 255 / width), UInt8(y * 255 / height), UInt8((x ^ y) & 255), 255] }
    }
    return try #require(PixelBuffer(size: PixelSize(width: width, height: height), bytes: bytes))
}
