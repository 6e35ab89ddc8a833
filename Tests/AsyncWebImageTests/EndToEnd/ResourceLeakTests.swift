import AsyncWebImage
import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing

/// The resources of a process after its loaders are released, in a process of its own without other activity.
@Suite(.timeLimit(.minutes(1)))
struct ResourceLeakTests {
    @Test func releasedLoadersLeaveNoThreadAndNoFile() async {
        await #expect(processExitsWith: .success) {
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
                    let stalled = loader.imageTask(for: ImageRequest(origin.url("/stalled.jpg")))
                    await loader.coordinator.callers(reach: 1)
                    stalled.cancel()
                }
                // The runtime keeps resources of its timers, such as those between two attempts.
                for _ in 0..<5 { try await useALoader() }
                #expect(
                    await ProcessState.reaches { ProcessState.threads(named: "webimage-").isEmpty },
                    "threads: \(ProcessState.threads(named: "webimage-"))")
                await origin.openConnections(become: 0)
                let before = ProcessState.openFiles
                for _ in 0..<20 { try await useALoader() }
                #expect(
                    await ProcessState.reaches {
                        ProcessState.openFiles.count <= before.count && ProcessState.threads(named: "webimage-").isEmpty
                    },
                    """
                    threads: \(ProcessState.threads(named: "webimage-"))
                    files: \(ProcessState.openFiles), before \(before)
                    """)
            }
        }
    }
}
