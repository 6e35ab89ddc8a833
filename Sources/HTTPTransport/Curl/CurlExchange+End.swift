import CCurl
import Threading

// The end of an exchange, and its metrics, as libcurl reports them.
extension CurlExchange {
    /// Returns the end of the exchange for a result of libcurl.
    func end(_ result: CURLcode) -> ExchangeEnd {
        result == CURLE_OK ? .complete : .failed(failure(result), repetition(result))
    }

    private func repetition(_ result: CURLcode) -> ExchangeEnd.Repetition {
        if lacksDescriptor, transfer.clock.phase == .connecting { return .ifReplaced }
        return switch result {
        case CURLE_SEND_ERROR: .ifUnanswered
        case CURLE_RECV_ERROR, CURLE_GOT_NOTHING: .ifReused
        default: .never
        }
    }

    private func failure(_ result: CURLcode) -> TransportError {
        if lacksDescriptor, transfer.clock.phase == .connecting { return transfer.error(.tooManyOpenFiles) }
        // The file of certificate authorities could not be opened.
        if result == CURLE_SSL_CACERT_BADFILE, OpenFileLimit.isReached { return transfer.error(.tooManyOpenFiles) }
        let proxyStatus = easy.long(CURLINFO_HTTP_CONNECTCODE)
        if proxyStatus == 407 { return transfer.error(.authenticationFailed, "by the proxy") }
        if proxyStatus >= 300 { return transfer.error(.refusedByProxy(status: proxyStatus)) }
        if let refusal = addressCheck.refusalOfAll { return transfer.error(.refusedByPolicy(refusal)) }
        let found = TransportError(
            result, url: transfer.request.url.string, detail: easy.errorDetail, progress: transfer.progress)
        switch found.reason {
        case .timedOut(let deadline): return transfer.timeout(deadline)
        case .connectionFailed where transfer.usesProxy && proxyStatus == 0:
            return transfer.error(.connectionFailed, "to the proxy: \(found.detail ?? "")")
        default: return found
        }
    }

    var reusesConnection: Bool { easy.long(CURLINFO_NUM_CONNECTS) == 0 }

    var isShared: Bool { false }

    func describe(in metrics: inout TransferMetrics, from start: MonotonicInstant) {
        // libcurl counts from the start of the last hop.
        let hop = metrics.totalDuration - easy.time(CURLINFO_TOTAL_TIME_T)
        metrics.timeToFirstByte = hop + easy.time(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.reusedConnection = reusesConnection
        if !metrics.reusedConnection {
            metrics.connectDuration = hop + easy.time(CURLINFO_CONNECT_TIME_T)
            let secured = easy.time(CURLINFO_APPCONNECT_TIME_T)
            metrics.tlsDuration = secured > .zero ? hop + secured : .zero
        }
        let isOld = easy.long(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_1_0)
        metrics.protocolName = isOld ? "HTTP/1.0" : "HTTP/1.1"
    }
}
