import HTTPTransport
import LoopbackOrigin
import TestSupport
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
        configuration.downloads.maximumConnectionsPerHost = maximumConcurrentDownloads
        return ImageLoader(configuration: configuration, transport: transport)
    }

    private func join(
        _ path: String, of loader: ImageLoader, _ answer: OneShot<ResponseBody> = OneShot()
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

    /// Others end at about the same time, and one turn handles all of them.
    @Test func endOfATransferIsLeftToATaskIfManyCallersWait() async throws {
        let loader = loader(maximumConcurrentDownloads: 5)
        for number in 1...6 { loader.coordinator.process(try join("\(number)", of: loader)) }
        #expect(transport.paths.count == 5)
        transport.finishFirst()
        await loader.coordinator.activity { $0.waiting == 0 }
        #expect(transport.paths.last == "/6" && !transport.hasStartedWhileFinishing)
    }

    @Test func bodyInSeveralPiecesIsDeliveredWhole() async throws {
        let loader = loader(maximumConcurrentDownloads: 1)
        let answer = OneShot<ResponseBody>()
        loader.coordinator.process(try join("a", of: loader, answer))
        loader.coordinator.process(try join("b", of: loader))
        let piece = [UInt8](repeating: 1, count: 100_000)
        transport.finishFirst([piece, piece, piece, piece])
        // A task combines the pieces.
        #expect(transport.paths == ["/a", "/b"] && transport.hasStartedWhileFinishing)
        #expect(try await answer.value.bytes == piece + piece + piece + piece)
    }

    @Test func transportsThreadHandlesPostedMessagesInOneTurn() throws {
        transport.performsWork()
        let loader = loader()
        loader.coordinator.post(try join("a", of: loader))
        loader.coordinator.process(try join("b", of: loader))
        #expect(transport.paths.isEmpty)
        #expect(transport.performWork() == 1)
        #expect(transport.paths == ["/a", "/b"])
        #expect(transport.threads == [currentThreadNumber(), currentThreadNumber()])
    }

    /// So that sockets are served in between.
    @Test func transportsThreadHandlesMessagesOfATurnInALaterOne() throws {
        transport.performsWork()
        let loader = loader()
        let second = try join("b", of: loader)
        transport.onStart { [weak coordinator = loader.coordinator] path in
            if path == "/a" { coordinator?.post(second) }
        }
        loader.coordinator.post(try join("a", of: loader))
        #expect(transport.performWork() == 1)
        #expect(transport.paths == ["/a"])
        #expect(transport.performWork() == 1)
        #expect(transport.paths == ["/a", "/b"])
        #expect(transport.performWork() == 0)
    }

    @Test func transportsThreadHandlesTheEndsOfTransfersOfManyCallersInOneTurn() throws {
        transport.performsWork()
        let loader = loader(maximumConcurrentDownloads: 5)
        for number in 1...7 { loader.coordinator.process(try join("\(number)", of: loader)) }
        transport.finishFirst()
        transport.finishFirst()
        #expect(transport.paths.count == 5)
        #expect(transport.performWork() == 1)
        #expect(transport.paths.suffix(2) == ["/6", "/7"])
    }

    /// The transfers would have to wait meanwhile.
    @Test func transportsThreadLeavesManyMessagesToATask() async throws {
        transport.performsWork()
        let loader = loader()
        for number in 0...CoordinatorExecutor.maximumMessagesOnTransport {
            loader.coordinator.post(try join("\(number)", of: loader))
        }
        #expect(transport.performWork() == 1)
        await loader.coordinator.callers(reach: CoordinatorExecutor.maximumMessagesOnTransport + 1)
        #expect(!transport.hasStartedWhilePerforming && transport.performWork() == 0)
    }

    @Test func transportsThreadLeavesAMessageAboutAllDownloadsToATask() async throws {
        transport.performsWork()
        let loader = loader()
        loader.coordinator.post(try join("a", of: loader))
        loader.coordinator.post(.event(.deadlinePassed))
        #expect(transport.performWork() == 1)
        await loader.coordinator.callers(reach: 1)
        #expect(!transport.hasStartedWhilePerforming && transport.performWork() == 0)
        loader.coordinator.post(.event(.deadlinePassed))
        #expect(transport.performWork() == 0)
    }

    @Test func transportsThreadLeavesJobsToATask() async throws {
        transport.performsWork()
        let loader = loader()
        #expect(await loader.coordinator.activity.running == 0)
        #expect(transport.performWork() == 0)
    }

    @Test func transportsThreadLeavesMessagesBeforeAJobToATask() async throws {
        transport.performsWork()
        let loader = loader()
        loader.coordinator.post(try join("a", of: loader))
        // Enqueues a job before it returns.
        let activity = Task.immediate { await loader.coordinator.activity }
        #expect(transport.performWork() == 1)
        #expect(await activity.value.running == 1)
        #expect(!transport.hasStartedWhilePerforming && transport.performWork() == 0)
    }

    @Test func turnsOfCallersAndOfTheTransportsThreadLoseNoMessage() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            var configuration = ImageLoader.Configuration.patient
            configuration.transport.threadCount = 1
            let loader = ImageLoader(configuration: configuration)
            try await withThrowingTaskGroup { group in
                for number in 0..<16 {
                    group.addTask { () async throws in
                        for other in 0..<50 {
                            let request = ImageRequest(origin.url("/a?\(number),\(other)"))
                            #expect(try await loader.data(for: request).bytes == [1])
                        }
                    }
                }
                try await group.waitForAll()
            }
            await loader.coordinator.becomesIdle()
        }
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
                        let answer = OneShot<ResponseBody>()
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

/// A transport that records the paths of requests synchronously, and can perform work when a test says so.
private final class RecordingTransport: WorkPerforming {
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
        /// The work to be performed; `nil` if it performs none.
        var work: [@Sendable () -> Void]?
        /// The thread that is performing work.
        var performing: UInt?
        var hasStartedWhilePerforming = false
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

    /// A Boolean value that indicates whether a request was started by ``performWork()``.
    var hasStartedWhilePerforming: Bool { state.withLock { $0.hasStartedWhilePerforming } }

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let action = state.withLock { state in
            state.paths.append(String(request.url.path))
            state.threads.append(currentThreadNumber())
            state.transfers.append((request.url, receiver))
            if state.finishing == currentThreadNumber() { state.hasStartedWhileFinishing = true }
            if state.performing == currentThreadNumber() { state.hasStartedWhilePerforming = true }
            return state.action
        }
        action?(String(request.url.path))
        continuation.yield(String(request.url.path))
        return Handle()
    }

    func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.work?.append(work)
            return state.work != nil
        }
    }

    /// Makes the transport perform work from now on.
    func performsWork() { state.withLock { $0.work = [] } }

    /// Performs the work that there is now on the calling thread, and returns how many pieces there were.
    func performWork() -> Int {
        let work = state.withLock { state in
            state.performing = currentThreadNumber()
            defer { state.work = [] }
            return state.work ?? []
        }
        for item in work { item() }
        state.withLock { $0.performing = nil }
        return work.count
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
