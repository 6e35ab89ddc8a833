import HTTPTypes
import TestSupport
import Testing

@testable import HTTPTransport

/// A transport pushes bytes into a pipe, and a task pulls them.
@Suite(.timeLimit(.minutes(1)))
struct BodyPipeTests {
    private let url: HTTPURL
    private let pipe: BodyPipe
    private let transfer = TransferProbe()
    private let piece = [UInt8](repeating: 7, count: 16 << 10)

    init() throws {
        url = try HTTPURL("http://example.com/")
        pipe = BodyPipe(url: url)
        pipe.attach(transfer)
    }

    private func push(_ bytes: [UInt8]) -> Bool {
        if case .more = pipe.receive(bytes.span) { true } else { false }
    }

    @Test func bodyPipeJoinsPiecesReceivedBetweenReads() async throws {
        #expect(push([1, 2]) && push([3]))
        #expect(try await pipe.next() == [1, 2, 3])
        #expect(push([4]))
        pipe.finish(.complete(TransferMetrics()))
        #expect(try await pipe.next() == [4])
        #expect(try await pipe.next() == nil)
        #expect(try await pipe.next() == nil)
    }

    @Test func slowReaderPausesTransferUntilItReads() async throws {
        var pushed = 0
        while push(piece) { pushed += piece.count }
        #expect(pushed == BodyPipe.highWater)
        #expect(!push([1]))
        #expect(transfer.resumes.count == 0)
        #expect(try await pipe.next()?.count == pushed)
        #expect(transfer.resumes.count == 1)
        #expect(push([1]))
        #expect(try await pipe.next() == [1])
        #expect(transfer.resumes.count == 1)
    }

    @Test func littleIsReceivedBeforeTheReaderDecidesToRead() async throws {
        let pipe = BodyPipe(url: url, isUndecided: true)
        pipe.attach(transfer)
        func push() -> Bool { if case .more = pipe.receive(piece.span) { true } else { false } }
        #expect(push())
        #expect(!push())
        #expect(try await pipe.next() == piece)
        #expect(transfer.resumes.count == 1)
        var pushed = 0
        while push() { pushed += piece.count }
        #expect(pushed == BodyPipe.highWater)
    }

    @Test func waitingReaderReceivesHeadPiecesAndEnd() async throws {
        let response = ResponseHead(response: HTTPResponse(status: .ok), url: url)
        let task = Task { [pipe] in
            let head = try await pipe.head()
            var pieces: [[UInt8]] = []
            while let piece = try await pipe.next() { pieces.append(piece) }
            return (head.status, pieces.flatMap(\.self))
        }
        await Task.yield()
        pipe.receive(response)
        await Task.yield()
        for byte in UInt8(0)...99 {
            #expect(push([byte]))
            await Task.yield()
        }
        pipe.finish(.complete(TransferMetrics()))
        let (status, bytes) = try await task.value
        #expect(status == .ok && bytes == Array(0...99))
    }

    @Test func bodyPipeThrowsFailureAfterTheReceivedBytes() async throws {
        #expect(push([1]))
        pipe.finish(.failed(TransportError(url: url.string, reason: .connectionLost)))
        #expect(try await pipe.next() == [1])
        for _ in 0..<2 {
            let error = await #expect(throws: TransportError.self) { try await pipe.next() }
            #expect(error?.reason == .connectionLost)
        }
    }

    @Test func aTransferThatEndsWithoutAHeadHasNoResponse() async throws {
        pipe.finish(.complete(TransferMetrics()))
        let error = await #expect(throws: TransportError.self) { try await pipe.head() }
        #expect(error?.reason == .connectionLost)
    }

    @Test(arguments: [true, false]) func cancelingTheReadingTaskCancelsTheTransfer(beforeItWaits: Bool) async throws {
        let pipe = BodyPipe(url: url)
        let transfer = TransferProbe { [url] in pipe.finish(.failed(.cancelled(url))) }
        pipe.attach(transfer)
        let task = Task {
            if beforeItWaits { await transfer.resumes.reaches(1) }
            return try await pipe.next()
        }
        if !beforeItWaits { await Task.yield() }
        task.cancel()
        transfer.resume()
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.reason == .cancelled)
        #expect(transfer.cancels.count == 1)
    }

    @Test func canceledBodyPipeCancelsTransferAttachedLater() {
        let pipe = BodyPipe(url: url)
        let transfer = TransferProbe()
        pipe.cancel()
        pipe.attach(transfer)
        #expect(transfer.cancels.count == 1)
    }

    @Test func finishedBodyPipeReleasesItsTransfer() {
        let pipe = BodyPipe(url: url)
        pipe.finish(.complete(TransferMetrics()))
        weak var ended: TransferProbe?
        do {
            let transfer = TransferProbe()
            ended = transfer
            pipe.attach(transfer)
        }
        #expect(ended == nil)
    }
}
