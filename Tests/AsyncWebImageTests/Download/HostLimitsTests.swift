import HTTPTransport
import Testing

@testable import AsyncWebImage

/// The numbers of concurrent downloads, in total and from one host, by its protocol.
@Suite(.timeLimit(.minutes(1)))
struct HostLimitsTests {
    private let transport = ScriptedTransport()

    private func loader(_ change: (inout DownloadConfiguration) -> Void = { _ in }) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = 64
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration, transport: transport)
    }

    private func start(_ count: Int, from host: String, with loader: ImageLoader) -> [LoadTask<ResponseBody>] {
        (0..<count).map { loader.dataTask(for: ImageRequest("https://\(host)/\($0)")) }
    }

    /// Takes the next `count` requests.
    private func exchanges(_ count: Int) async throws -> [ScriptedTransport.Exchange] {
        var exchanges = transport.exchanges.makeAsyncIterator()
        var taken: [ScriptedTransport.Exchange] = []
        for _ in 0..<count { taken.append(try #require(await exchanges.next())) }
        return taken
    }

    private func finish(
        _ exchange: ScriptedTransport.Exchange, over protocolName: String, _ status: HTTPResponse.Status = .ok
    ) {
        exchange.answer(status, [:], [1])
        var metrics = TransferMetrics()
        metrics.protocolName = protocolName
        exchange.finish(.complete(metrics))
    }

    /// Runs downloads of one host after a first response over a protocol, and returns how many run at a time.
    private func running(
        after protocolName: String, _ status: HTTPResponse.Status = .ok,
        _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) async throws -> Int {
        let loader = loader(change)
        let tasks = start(100, from: "a", with: loader)
        finish(try await exchanges(1)[0], over: protocolName, status)
        _ = try? await tasks[0].value
        let running = await loader.coordinator.activity.running
        for task in tasks { task.cancel() }
        await loader.coordinator.becomesIdle()
        return running
    }

    @Test func sixtyFourDownloadsRunFromManyHostsAndSixFromEach() async throws {
        let loader = loader()
        let tasks = (0..<20).flatMap { start(20, from: "host\($0)", with: loader) }
        var running = try await exchanges(64)
        for _ in 0..<200 {
            finish(running.removeFirst(), over: "HTTP/1.1")
            running += try await exchanges(1)
            #expect(await loader.coordinator.activity.running == 64)
            let hosts = Dictionary(grouping: running) { $0.request.url.host }
            #expect(hosts.values.allSatisfy { $0.count <= 6 })
        }
        for task in tasks { task.cancel() }
        await loader.coordinator.becomesIdle()
    }

    @Test(arguments: [("HTTP/1.1", 6), ("HTTP/1.0", 6), ("", 6), ("HTTP/2", 32)])
    func hostWithHTTP2GetsMoreDownloadsOnceOneHasEnded(protocolName: String, count: Int) async throws {
        #expect(try await running(after: protocolName) == count)
    }

    @Test func refusalShowsTheProtocolToo() async throws {
        #expect(try await running(after: "HTTP/2", .notFound) == 32)
    }

    @Test(arguments: [("HTTP/1.1", 2), ("HTTP/2", 2)])
    func lowLimitPerHostAppliesToBothProtocols(protocolName: String, count: Int) async throws {
        #expect(try await running(after: protocolName) { $0.maximumConcurrentDownloadsPerHost = 2 } == count)
    }

    @Test(arguments: [("HTTP/1.1", 10), ("HTTP/2", 48)])
    func limitsPerHostCanBeRaised(protocolName: String, count: Int) async throws {
        let running = try await running(after: protocolName) { configuration in
            configuration.maximumConnectionsPerHost = 10
            configuration.maximumConcurrentDownloadsPerHost = 48
        }
        #expect(running == count)
    }

    @Test(arguments: ["HTTP/1.1", "HTTP/2"])
    func limitsBelowOneAreOne(protocolName: String) async throws {
        let running = try await running(after: protocolName) { configuration in
            configuration.maximumConnectionsPerHost = 0
            configuration.maximumConcurrentDownloadsPerHost = -1
        }
        #expect(running == 1)
    }

    @Test func hostThatReturnsToHTTP1GetsFewerDownloads() async throws {
        let loader = loader()
        let tasks = start(100, from: "a", with: loader)
        let first = try await exchanges(6)
        finish(first[0], over: "HTTP/2")
        let streams = try await exchanges(27)
        #expect(await loader.coordinator.activity.running == 32)
        for exchange in first[1...] + streams[..<22] { finish(exchange, over: "HTTP/1.1") }
        // Of the 32, 27 have ended, so that one more may run beside the other five.
        _ = try await exchanges(1)
        #expect(await loader.coordinator.activity.running == 6)
        for task in tasks { task.cancel() }
        await loader.coordinator.becomesIdle()
    }

    @Test func protocolIsThatOfTheHostThatAnswersARedirect() async throws {
        let loader = loader()
        let tasks = start(20, from: "a", with: loader) + start(20, from: "b", with: loader)
        let exchange = try await exchanges(1)[0]
        let url = try HTTPURL("https://b/0")
        exchange.answer(from: url)
        var metrics = TransferMetrics()
        metrics.protocolName = "HTTP/2"
        exchange.finish(.complete(metrics))
        _ = try await tasks[0].value
        #expect(await loader.coordinator.activity.running == 6 + 20)
        for task in tasks { task.cancel() }
        await loader.coordinator.becomesIdle()
    }
}
