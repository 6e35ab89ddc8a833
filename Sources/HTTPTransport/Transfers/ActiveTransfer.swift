import HTTPTypes

/// A transfer on the thread of its worker: its request, which changes with redirects, and its state.
///
/// Confined to the worker's thread.
final class ActiveTransfer {
    /// The handle, which also keeps the worker alive during the transfer.
    let handle: TransferHandle
    let start: MonotonicInstant
    private(set) var request: TransportRequest
    private(set) var redirectCount: Int
    private(set) var clock: TransferClock
    private let deadlines: DeadlineWatch
    private let shares: ThreadTimeShares
    private let assignment: ThreadAssignment
    /// A Boolean value that indicates whether there is a credential provider.
    private let hasProvider: Bool
    /// The reason why the request cannot be sent yet.
    var awaited: Awaited?
    /// The time from the start until the host's addresses were known.
    var resolved = Duration.zero
    /// The transport's credential for the origin, if the request has none.
    private(set) var provided: ProvidedCredential?
    /// The key of the hop's connections; `nil` if the transport has one thread only.
    private var connectionKey: ConnectionKey?
    /// The key of the connections that this module uses for the hop; `nil` if libcurl performs it.
    var poolKey: ConnectionKey?
    /// The server to which a connection is opened for the hop and others that can share it.
    var openedKey: ConnectionKey?
    /// The server at which the hop has one of a limited number of places.
    var placeKey: ConnectionKey?
    /// A Boolean value that indicates whether the hop uses a proxy, whose own address is not checked.
    var usesProxy = false
    /// A Boolean value that indicates whether a client certificate is presented to the hop's host on request.
    var showsCertificate = false
    private(set) var attempt = Attempt.first
    /// The hop's request on its way, while it has a connection or one is opened for it.
    var exchange: (any Exchange)?
    /// The time when the hop's request was sent over a connection of this module, if it was.
    private(set) var sent: MonotonicInstant?
    /// A Boolean value that indicates whether the hop is paused because its time share was used up.
    private var isPausedForFairness = false
    /// The received part of the hop's response.
    var incoming = Incoming()
    /// The part delivered to the receiver.
    var delivered = Delivered()
    /// The decoder of the body, if the body has a content coding.
    var decoder: ContentDecoder?
    /// The reason why this module aborted the transfer, if it did.
    var abortReason: AbortReason?

    /// An answer from another thread, or the end of another transfer.
    enum Awaited: Equatable {
        /// The addresses of a host.
        case addresses(of: String)
        /// The credential of a provider.
        case credential(CredentialStore.Key)
        /// A place at a server.
        case place(ConnectionKey)
    }

    /// A credential that the transport has for an origin.
    struct ProvidedCredential {
        let credential: Credential
        /// A Boolean value that indicates whether it is a provider's answer to this transfer.
        let isFresh: Bool
    }

    /// The attempts to send the request of a hop.
    enum Attempt {
        case first
        /// The request is repeated over a connection that was established after a time, for the number of times that the
        /// server has refused it.
        case repeated(after: MonotonicInstant, refusalCount: Int)
    }

    /// The reasons for ending a transfer before its response is complete.
    enum AbortReason {
        case stopped
        case failed(TransportError)
    }

    init(
        _ handle: TransferHandle, deadlines: DeadlineWatch, shares: ThreadTimeShares,
        assignment: ThreadAssignment = ThreadAssignment(), hasProvider: Bool = false
    ) {
        self.handle = handle
        self.hasProvider = hasProvider
        self.deadlines = deadlines
        self.shares = shares
        self.assignment = assignment
        request = handle.request
        connectionKey = handle.connectionKey
        redirectCount = request.followedRedirects ?? 0
        start = .now
        clock = TransferClock(request.deadlines, now: start)
        deadlines.expect(clock)
    }

    /// The receiver of the response.
    var receiver: any TransferReceiver { decoder ?? handle.receiver }

    /// The credential sent to the origin.
    var credential: Credential? { request.ownCredential ?? provided?.credential }

    /// The request with its credential, as this module sends it.
    var requestWithCredential: TransportRequest {
        guard let authorization = credential?.authorization else { return request }
        var request = request
        request.headerFields[.authorization] = authorization
        return request
    }

    /// A Boolean value that indicates whether the provider may be asked for a credential.
    var mayAskProvider: Bool {
        hasProvider && request.ownCredential == nil && request.headerFields[.authorization] == nil
    }

    /// A Boolean value that indicates whether the receiver has paused the transfer.
    var isPaused: Bool { clock.phase == .paused }

    /// A Boolean value that indicates whether the hop is repeated, over a new connection.
    var isRepeated: Bool {
        if case .first = attempt { false } else { true }
    }

    /// A Boolean value that indicates whether the transfer has to wait until a connection is released.
    var waitsForConnection: Bool { exchange == nil && clock.phase == .connecting && awaited == nil }

    /// Fails the transfer with `reason`; returns `false`, the result for callbacks.
    @discardableResult
    func fail(_ reason: TransportError.Reason, detail: String? = nil) -> Bool {
        abortReason = .failed(error(reason, detail))
        return false
    }

    /// Returns an error of the present hop.
    func error(_ reason: TransportError.Reason, _ detail: String? = nil) -> TransportError {
        TransportError(url: request.url.string, reason: reason, detail: detail)
    }
}

// MARK: - Hops

extension ActiveTransfer {
    /// Continues with the redirect's target, over the connections with `key`.
    func follow(_ next: TransportRequest, over key: ConnectionKey?) {
        request = next
        redirectCount += 1
        attempt = .first
        connectionKey = key
        if let key { assignment.begin(key) }
        begin(with: nil)
    }

    /// Repeats the hop over a new connection.
    func `repeat`(afterRefusal: Bool = false) {
        let refusals = if case .repeated(_, let count) = attempt { count } else { 0 }
        attempt = .repeated(after: sent ?? deadlines.now, refusalCount: refusals + (afterRefusal ? 1 : 0))
        begin(with: provided)
    }

    /// Repeats the hop from its start, with the transport's credential for the origin.
    func begin(with credential: ProvidedCredential?) {
        provided = credential
        incoming = Incoming()
        sent = nil
        isPausedForFairness = false
        enter(.resolving)
    }

    /// Records that the host's addresses are known or not needed; the lookup also counts as connecting.
    func hasAddresses() {
        clock.endResolving()
    }

    /// Waits for a place at a server, which is not part of the time for connecting.
    func waitForPlace(at key: ConnectionKey) {
        awaited = .place(key)
        enter(.paused)
    }

    /// Ends the wait for a place; returns `false` if there is none.
    func endWaitForPlace() -> Bool {
        guard case .place = awaited else { return false }
        awaited = nil
        enter(.resolving)
        return true
    }

    /// Records that the request is about to be sent over a connection of this module.
    func sendsRequest(at now: MonotonicInstant) {
        sent = now
        enter(.waitingForFirstByte)
    }

    /// Records whether the hop's connection is shared by transfers, once that is known.
    func learnProtocol() {
        guard let connectionKey, connectionKey.isSecure, let exchange else { return }
        assignment.learn(connectionKey, isMultiplexed: exchange.isShared)
    }

    /// Records that the transfer no longer needs a connection of its hop.
    func leaveConnections(keepsConnection: Bool) {
        if let connectionKey { assignment.end(connectionKey, keepsConnection: keepsConnection) }
    }

    /// Discards the body of an intermediate response, and limits the wait for its end.
    func discardBody() {
        enter(.discarding)
        deadlines.expect(within: TransferClock.maximumDiscardTime)
    }

    /// Returns whether the hop has used up its share, so that it must be paused until ``endTurnPause()``.
    func pausesForOthers() -> Bool {
        guard !isPausedForFairness, shares.endsTurn(of: self) else { return isPausedForFairness }
        isPausedForFairness = true
        return true
    }

    /// Returns whether the hop is still paused for its share, and starts a new one.
    func endTurnPause() -> Bool {
        defer { isPausedForFairness = false }
        return isPausedForFairness
    }

    /// Enters `phase`, or records progress in it.
    func enter(_ phase: TransferClock.Phase) {
        clock.enter(phase, now: deadlines.now)
    }
}
