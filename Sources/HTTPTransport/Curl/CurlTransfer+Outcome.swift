import CCurl
import HTTPTypes
import Threading

import Glibc

// The outcome of a transfer.
extension CurlTransfer {
    /// Returns the outcome to report to the receiver after the transfer has ended, with a result in libcurl's terms.
    func outcome(_ result: CURLcode) -> TransferOutcome {
        switch abortReason {
        case .stopped: return .stopped(metrics())
        case .failed(let error): return .failed(error)
        case nil: break
        }
        guard result == CURLE_OK else { return .failed(failure(result)) }
        // libcurl accepts a truncated head.
        guard delivered.hasHead else { return .failed(error(.connectionLost)) }
        return .complete(metrics())
    }

    /// Returns the outcome to report for a response that was delivered without its body.
    func outcomeWithoutBody() -> TransferOutcome {
        if case .failed(let error)? = abortReason { .failed(error) } else { .complete(metrics()) }
    }

    /// Returns the outcome to report when a deadline has passed.
    func outcome(after deadline: Deadlines.Kind) -> TransferOutcome { .failed(timeout(deadline)) }

    /// Returns whether the server closed a reused connection just as the request was sent, so that it must be sent
    /// again (RFC 9112, section 9.3.1).
    ///
    /// For a retry, libcurl itself would use other old connections, which can be about to close as well, and with
    /// HTTP/2 it does not always detect that nothing was lost.
    ///
    /// Also returns `true` if there was no file descriptor for a connection and `makeRoom` can provide one.
    func shouldRetryConnection(_ result: CURLcode, makingRoom makeRoom: () -> Bool) -> Bool {
        guard abortReason == nil, !handle.isCancelled else { return false }
        // A server that closes each connection after a few requests can refuse a request several times.
        if wasRefused, refusalCount < Self.maximumRefusals { return true }
        guard !isRetry else { return false }
        if lacksDescriptor, clock.phase == .connecting { return makeRoom() }
        guard [.get, .head].contains(request.method),
            clock.phase == .connecting || clock.phase == .waitingForFirstByte
        else { return false }
        switch result {
        case CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM: return true
        case CURLE_RECV_ERROR, CURLE_GOT_NOTHING: return reusesConnection
        default: return false
        }
    }

    private var reusesConnection: Bool {
        if let exchange { return exchange.reusesConnection }
        return easy?.long(CURLINFO_NUM_CONNECTS) == 0
    }

    private var errorDetail: String {
        if let connectionError { return connectionError }
        if systemError != 0 { return unsafe String(cString: strerror(systemError)) }
        return easy?.errorDetail ?? ""
    }

    private func failure(_ result: CURLcode) -> TransportError {
        if lacksDescriptor, clock.phase == .connecting { return error(.tooManyOpenFiles) }
        // The file of certificate authorities could not be opened.
        if result == CURLE_SSL_CACERT_BADFILE, OpenFileLimit.isReached { return error(.tooManyOpenFiles) }
        let proxyStatus = easy?.long(CURLINFO_HTTP_CONNECTCODE) ?? 0
        if proxyStatus == 407 { return error(.authenticationFailed, "by the proxy") }
        if proxyStatus >= 300 { return error(.refusedByProxy(status: proxyStatus)) }
        if let refusal = addressCheck.refusalOfAll { return error(.refusedByPolicy(refusal)) }
        let found = TransportError(
            result, url: request.url.string, detail: errorDetail, progress: progress)
        switch found.reason {
        case .timedOut(let deadline): return timeout(deadline)
        case .connectionFailed where usesProxy && proxyStatus == 0:
            return error(.connectionFailed, "to the proxy: \(found.detail ?? "")")
        // The server closed the connection, which the reason states better than libcurl's name of the code.
        case let reason where exchange != nil && systemError == 0: return error(reason, connectionError)
        default: return found
        }
    }

    private func timeout(_ deadline: Deadlines.Kind) -> TransportError {
        let limit: Duration? =
            switch deadline {
            case .lookup: request.deadlines.lookup
            case .connect: request.deadlines.connect
            case .firstByte: request.deadlines.firstByte
            case .idle: request.deadlines.idle
            // For a later attempt, this is only the remaining time.
            case .total: nil
            }
        let details = [
            limit.map { "after \($0)" }, usesProxy && deadline == .connect ? "through the proxy" : nil,
        ].compactMap(\.self)
        return error(.timedOut(deadline), details.isEmpty ? nil : details.joined(separator: ", "))
    }

    private func error(_ reason: TransportError.Reason, _ detail: String? = nil) -> TransportError {
        TransportError(url: request.url.string, reason: reason, detail: detail)
    }

    private var progress: TransferProgress {
        if delivered.hasHead {
            return .receivingBody(expected: delivered.expectedBytes, received: delivered.bodyBytes)
        }
        return clock.phase == .connecting ? .connecting : .waitingForHead
    }
}
