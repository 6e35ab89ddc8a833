import HTTPTransport
import ResponseCache

/// A transfer whose response is pulled by one task, which delivers it to a receiver as a transport would.
///
/// Used only where hooks, a source, or stored responses take part; see ``ResponseRoute``.
final class PulledTransfer: Transfer {
    private let network: NetworkResponder
    private let task: Task<Void, Never>
    /// Yields an element when the receiver accepts bytes again.
    private let resumption: AsyncStream<Void>.Continuation

    /// Starts a transfer at once; `responder` must send its requests by `network`.
    init(
        _ request: TransportRequest, to responder: any Responder, over network: NetworkResponder,
        receiver: DownloadReceiver
    ) {
        let (resumptions, resumption) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.network = network
        self.resumption = resumption
        // Detached: hooks may suspend, and the code that starts a transfer does not wait for its end.
        task = Task.detached {
            do {
                receiver.finish(try await Self.pull(request, from: responder, to: receiver, network, resumptions))
            } catch let error as ImageError {
                receiver.end(because: .failed(error))
            } catch is StoredBodyError {
                // The entry has been removed by now, or is not used for a while.
                receiver.end(because: .notContinued)
            } catch let error as TransportError {
                receiver.finish(.failed(error))
            } catch {
                receiver.finish(.failed(.cancelled(request.url)))
            }
        }
    }

    func cancel() {
        task.cancel()
        // A hook may continue for a while.
        network.cancel()
    }

    func resume() { resumption.yield() }

    /// Delivers the response; its body is released when this returns.
    private static func pull(
        _ request: TransportRequest, from responder: any Responder, to receiver: DownloadReceiver,
        _ network: NetworkResponder, _ resumptions: AsyncStream<Void>
    ) async throws -> TransferOutcome {
        // Callers that leave take their interest with them.
        func noteInterest() {
            if let isInBeginning = receiver.needsOnlyBeginning { network.interest.set(isInBeginning: isInBeginning) }
        }
        noteInterest()
        let response = try await responder.response(to: request)
        var resumed = resumptions.makeAsyncIterator()
        receiver.receive(response.head, from: response.source, length: response.length)
        while let piece = try await response.body.next() {
            noteInterest()
            offer: while true {
                let isWhole = piece.count == response.length
                switch isWhole ? receiver.receive(whole: piece) : receiver.receive(piece.span) {
                case .more: break offer
                case .stop: return .stopped(response.body.metrics)
                // The next element may be outdated: then the piece is rejected again.
                case .pause: if await resumed.next() == nil { throw CancellationError() }
                }
            }
        }
        return .complete(response.body.metrics)
    }
}
