import AsyncWebImage
import HTTPTransport
import LoopbackOrigin
import Testing

#if canImport(Glibc)
import Foundation

/// What a process still holds after its loaders are gone; in a process of its own, where nobody else opens anything.
@Suite(.timeLimit(.minutes(1)))
struct LeftoversTests {
    @Test func releasedLoadersLeaveNoThreadAndNoFile() async {
        await #expect(processExitsWith: .success) {
            func files() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
            func ownThreads() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
                    .map { Self.line(of: "/proc/self/task/\($0)/comm") }
                    .filter { $0.hasPrefix("webimage-") }
            }
            try await withLoopbackOrigin { origin in
                origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)))
                origin.route("/broken.jpg", .init(body: try Samples.file(.jpeg)).cut(at: .body(300)))
                origin.route("/stalled.jpg", .init(body: try Samples.file(.jpeg)).stalled(at: .body(300)))
                func useALoader() async throws {
                    var configuration = ImageLoader.Configuration()
                    configuration.downloads.retry = ExponentialBackoff(base: .milliseconds(1))
                    let loader = ImageLoader(configuration: configuration)
                    _ = try await loader.image(for: ImageRequest(origin.url("/a.jpg")))
                    _ = try? await loader.image(for: ImageRequest(origin.url("/broken.jpg")))
                    let stalled = loader.task(for: ImageRequest(origin.url("/stalled.jpg")))
                    await loader.coordinator.callers(reach: 1)
                    stalled.cancel()
                }
                // The runtime keeps the timer of its first sleep, such as that between two tries.
                try await useALoader()
                while try !ownThreads().isEmpty { await Task.yield() }
                await origin.openConnections(become: 0)
                let before = try files()
                for _ in 0..<20 { try await useALoader() }
                let deadline = ContinuousClock.now + .seconds(30)
                while try files() > before || !ownThreads().isEmpty, ContinuousClock.now < deadline {
                    await Task.yield()
                }
                #expect(try files() <= before)
                #expect(try ownThreads().isEmpty)
            }
        }
    }

    /// The beginning of a small file; empty if it is gone.
    ///
    /// Foundation leaks its buffer when a thread ends between the opening and the reading.
    private static func line(of path: String) -> String {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
#endif
