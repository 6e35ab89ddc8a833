import HTTPTransport
import Testing
import Threading

@testable import AsyncWebImage

/// The threads on which the coordinator handles messages.
///
/// A function without `await` stays on its thread.
@Suite(.timeLimit(.minutes(1)))
struct CoordinatorExecutorTests {
    private let transport = RecordingTransport()

    private func loader(maximumConcurrentDownloads: Int = 10) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = maximumConcurrentDownloads
        configuration.downloads.maximumConcurrentDownloadsPerHost = maximumConcurrentDownloads
        return ImageLoader(configuration: configuration, transport: transport)
    }

    private func join(
        _ path: String, of loader: ImageLoader, _ answer: OneShot<ImageData> = OneShot()
    ) throws -> CoordinatorMessage {
        let request = ImageRequest("http://example.com/\(path)")
        let id = loader.coordinator.newSubscriberID()
        return .join(Subscriber(request, try loader.fetchKey(request), id: id, product: .data(answer)))
    }

    @Test func idleCoordinatorHandlesAMessageOnTheCallingThread() throws {
        let loader = loader()
        loader.coordinator.process(try join("a", of: loader))
        #expect(transport.paths == ["/a"])
        loader.coordinator.process(try join("b", of: loader))
        #expect(transport.paths == ["/a", "/b"])
        #expect(transport.threads == [currentThreadNumber(), currentThreadNumber()])
    }

    /// Nothing else makes the coordinator read its messages.
    @Test func messagePostedDuringATurnIsHandledByATask() async throws {
        let loader = loader()
        let second = try join("b", of: loader)
        transport.onStart { [weak coordinator = loader.coordinator] path in
            if path == "/a" { coordinator?.process(second) }
        }
        var started = transport.started.makeAsyncIterator()
        loader.coordinator.process(try join("a", of: loader))
        #expect(await started.next() == "/a")
        #expect(await started.next() == "/b")
    }

    @Test func busyCoordinatorLeavesAMessageToATask() async throws {
        let loader = loader()
        let message = try join("a", of: loader)
        let paths = await loader.coordinator.inOneTurn { [transport] in
            loader.coordinator.process(message)
            return transport.paths
        }
        #expect(paths.isEmpty)
        await loader.coordinator.callers(reach: 1)
        #expect(transport.paths == ["/a"])
    }

    @Test func messageIsHandledAfterThosePostedBefore() async throws {
        let loader = loader()
        loader.coordinator.post(try join("a", of: loader))
        loader.coordinator.process(try join("b", of: loader))
        await loader.coordinator.callers(reach: 2)
        #expect(transport.paths == ["/a", "/b"])
    }

    @Test func endOfATransferStartsTheNextDownloadOnTheCallingThread() throws {
        let loader = loader(maximumConcurrentDownloads: 1)
        loader.coordinator.process(try join("a", of: loader))
        loader.coordinator.process(try join("b", of: loader))
        #expect(transport.paths == ["/a"])
        transport.finishFirst()
        #expect(transport.paths == ["/a", "/b"] && transport.hasStartedWhileFinishing)
    }

    /// The transport's thread has more work than others.
    @Test func endOfATransferIsLeftToATaskIfManyCallersWait() async throws {
        let loader = loader(maximumConcurrentDownloads: 5)
        for number in 1...6 { loader.coordinator.process(try join("\(number)", of: loader)) }
        #expect(transport.paths.count == 5)
        transport.finishFirst()
        await loader.coordinator.activity { $0.waiting == 0 }
        #expect(transport.paths.last == "/6" && !transport.hasStartedWhileFinishing)
    }

    /// Combining them would keep the transport's thread from other transfers.
    @Test func endOfABodyInSeveralPiecesIsLeftToATask() async throws {
        let loader = loader(maximumConcurrentDownloads: 1)
        loader.coordinator.process(try join("a", of: loader))
        loader.coordinator.process(try join("b", of: loader))
        transport.finishFirst([[UInt8]](repeating: [UInt8](repeating: 1, count: 100_000), count: 4))
        await loader.coordinator.activity { $0.waiting == 0 }
        #expect(transport.paths == ["/a", "/b"] && !transport.hasStartedWhileFinishing)
    }

    @Test func messageIsHandledAlthoughTheLoaderIsReleased() async throws {
        var started = transport.started.makeAsyncIterator()
        do {
            let loader = loader()
            loader.coordinator.post(try join("a", of: loader))
        }
        #expect(await started.next() == "/a")
    }

    @Test func turnsOnManyThreadsLoseNoMessage() async throws {
        let loader = ImageLoader(configuration: .patient, transport: InstantTransport(body: [1]))
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    for other in 0..<200 {
                        let answer = OneShot<ImageData>()
                        loader.coordinator.process(try join("\(number)/\(other)", of: loader, answer))
                        #expect(try await answer.value.bytes == [1])
                        _ = await loader.coordinator.activity
                    }
                }
            }
            try await group.waitForAll()
        }
        await loader.coordinator.becomesIdle()
    }
}

/// A transport that records the paths of requests synchronously.
private final class RecordingTransport: Transport {
    private final class Handle: Transfer {
        func cancel() {}
        func resume() {}
    }

    private struct State {
        var paths: [String] = []
        var threads: [UInt] = []
        var action: (@Sendable (_ path: String) -> Void)?
        var transfers: [(url: HTTPURL, receiver: any TransferReceiver)] = []
        /// The thread that is reporting the end of a transfer.
        var finishing: UInt?
        var hasStartedWhileFinishing = false
    }

    private let state = Locked(State())
    private let continuation: AsyncStream<String>.Continuation
    let started: AsyncStream<String>

    init() {
        (started, continuation) = AsyncStream.makeStream()
    }

    var paths: [String] { state.withLock { $0.paths } }

    /// The threads on which the requests were started.
    var threads: [UInt] { state.withLock { $0.threads } }

    /// A Boolean value that indicates whether a request was started on a thread that was reporting the end of another.
    var hasStartedWhileFinishing: Bool { state.withLock { $0.hasStartedWhileFinishing } }

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let action = state.withLock { state in
            state.paths.append(String(request.url.path))
            state.threads.append(currentThreadNumber())
            state.transfers.append((request.url, receiver))
            if state.finishing == currentThreadNumber() { state.hasStartedWhileFinishing = true }
            return state.action
        }
        action?(String(request.url.path))
        continuation.yield(String(request.url.path))
        return Handle()
    }

    /// Calls `action` whenever a request has been started.
    func onStart(_ action: @escaping @Sendable (_ path: String) -> Void) { state.withLock { $0.action = action } }

    /// Delivers a response to the first request.
    func finishFirst(_ pieces: [[UInt8]] = [[1]]) {
        let (url, receiver) = state.withLock { state in
            state.finishing = currentThreadNumber()
            return state.transfers.removeFirst()
        }
        receiver.receive(ResponseHead(response: HTTPResponse(status: .ok), url: url))
        for piece in pieces { _ = receiver.receive(piece.span) }
        receiver.finish(.complete(TransferMetrics()))
        state.withLock { $0.finishing = nil }
    }
}
