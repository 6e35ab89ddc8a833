import HTTPTransport
import HTTPTypes
import Threading

/// One download's transport when there is a cache, or a policy that is about one: answers from the cache what the policy
/// lets it, and stores what comes over the other transport.
struct CachingTransport: Transport {
    /// How far a transfer may go.
    enum Reach: Sendable {
        /// To the cache, then over the network.
        case everywhere
        /// To the cache only: what has to be asked for fails, and tells so by the result.
        case cache(LookUpResult)
        /// Over the network at once, as nothing is stored.
        case network
    }

    let transport: any Transport
    let cache: ResponseCache?
    let policy: CachePolicy
    var reach = Reach.everywhere
    /// Is told where a response comes from, before its head is received.
    let note: @Sendable (ResponseSource) -> Void

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        // Which cookies a jar will send is not known here, and so not whose response it will be.
        guard policy != .cacheOnly || cache != nil && !request.handlesCookies else {
            receiver.finish(.failed(.notCached(request)))
            return NoTransfer()
        }
        let isKept = request.method == .get && !request.handlesCookies
        // A part is no answer of its own, but may complete what is stored.
        let isWhole = request.headerFields[.range] == nil || request.asksForRest
        guard let cache, policy != .noStore, isKept && isWhole || policy == .cacheOnly else {
            if case .cache(let result) = reach {
                result.set(.unusable)
                receiver.finish(.failed(.notCached(request)))
                return NoTransfer()
            }
            note(.network)
            return transport.start(request, receiver: receiver)
        }
        let lookUp = CacheLookUp(request, in: cache, policy: policy)
        let transfer = CachingTransfer(lookUp, over: transport, reach: reach, note: note, receiver: receiver)
        transfer.start()
        return transfer
    }

    private final class NoTransfer: Transfer {
        func cancel() {}
        func resume() {}
    }
}

/// What has come of a look-up without the network.
final class LookUpResult: Sendable {
    enum Value: Sendable {
        /// Nothing is stored.
        case missing
        /// What is stored has to be asked for, or is no answer to such a request.
        case unusable
    }

    private let state = Locked<Value?>(nil)

    /// Nil if the response was served, there can be none, or it is not known yet.
    var value: Value? { state.withLock { $0 } }

    func set(_ value: Value) { state.withLock { $0 = value } }
}

extension TransportError {
    static func notCached(_ request: TransportRequest) -> TransportError {
        TransportError(url: request.url.string, reason: .notCached)
    }
}
