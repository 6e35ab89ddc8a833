import AsyncWebImage
import HTTPTransport
import TestSupport
import Testing

/// A server that stops during a transfer and restarts on the same port.
@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)))
struct RestartTests {
    private static let body = [UInt8](repeating: 7, count: 4 << 20)

    /// The error with which a caller's load ends.
    private func failure(_ load: () async throws -> Void) async throws -> TransportError {
        let error = await #expect(throws: ImageError.self) { try await load() }
        guard case .transport(let cause)? = error else { throw try #require(error) }
        #expect(error?.isRetryable == true, "\(cause)")
        return cause
    }

    @Test(arguments: TestSite.Version.allCases)
    func callersGetARetryableErrorDuringAServerRestart(version: TestSite.Version) async throws {
        let site = try await TestSite(version, ["a": Self.body], directives: "limit_rate 200k;")
        let loader = site.loader()
        let request = ImageRequest(site.url("a"))
        let task = loader.dataTask(for: request)
        await loader.coordinator.activity { $0.bytesInFlight > 0 }
        site.stop()
        let broken = try await failure { _ = try await task.value }
        guard case .truncated(Self.body.count, let received) = broken.reason else { throw broken }
        #expect((1..<Self.body.count).contains(received))

        let refused = try await failure { _ = try await loader.data(for: request) }
        #expect(refused.reason == .connectionFailed)

        try await site.start()
        #expect(try await loader.data(for: request).bytes == Self.body)
    }

    @Test(arguments: TestSite.Version.allCases)
    func retriesSucceedAfterAServerRestart(version: TestSite.Version) async throws {
        let file = try Samples.file(.png, 200, 150)
        // So slow that the server goes away in the middle however late the test gets its turn.
        let slow = "limit_rate 1k; limit_rate_after 1k;"
        let site = try await TestSite(version, ["a.png": file], directives: slow)
        let loader = site.loader(slots: 10)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<40 {
                group.addTask {
                    let request = ImageRequest(site.url("a.png?\(index)"))
                    for failures in 0... {
                        do {
                            let image = try await loader.image(for: request)
                            #expect(image.pixels == Samples.picture(200, 150))
                            return failures
                        } catch let error as ImageError where error.isRetryable {
                            await Task.yield()
                        }
                    }
                    return 0
                }
            }
            for directives in [slow, ""] {
                await loader.coordinator.activity { $0.bytesInFlight > 5_000 }
                site.stop()
                try await site.start(directives)
            }
            let failures = try await group.reduce(0, +)
            #expect(failures >= 2)
        }
    }
}
