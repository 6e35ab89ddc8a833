import CCurl

extension TransportError {
    /// What `code`, the result of a transfer of `url`, means; `detail` is the text of libcurl's error buffer.
    init(_ code: CURLcode, url: String, detail: String, progress: TransferProgress) {
        let text = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail
        let reason = Reason(code, detail: text, progress: progress)
        self.init(
            url: url, reason: reason,
            // A proxy that libcurl finds wanting is quoted whole, password included.
            detail: reason.detail(code, saying: text).map { String(HTTPURL.withoutUserInformation($0).prefix(200)) })
    }
}

/// How far a transfer had come when libcurl gave it up; the same code means different things before and after.
enum TransferProgress {
    case connecting
    case waitingForHead
    case receivingBody(expected: Int?, received: Int)
}

extension TransportError.Reason {
    fileprivate init(_ code: CURLcode, detail: String, progress: TransferProgress) {
        switch code {
        case CURLE_URL_MALFORMAT:
            self = .invalidURL
        // Before anything was tried, by codes that have other meanings, too.
        case _ where detail.hasPrefix("Unsupported proxy"):
            self = .invalidProxy
        case CURLE_COULDNT_RESOLVE_HOST:
            self = .hostNotFound
        case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY, CURLE_INTERFACE_FAILED:
            self = .connectionFailed
        // A server that went away during the handshake said nothing against it.
        case CURLE_SSL_CONNECT_ERROR where Self.isBrokenOff(detail):
            self = .connectionFailed
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_SHUTDOWN_FAILED, CURLE_USE_SSL_FAILED, CURLE_SSL_CLIENTCERT,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
            self = .insecure
        case CURLE_OPERATION_TIMEDOUT:
            if case .connecting = progress { self = .timedOut(.connect) } else { self = .timedOut(.total) }
        // With TLS 1.3 a server looks at our certificate when we take the connection to stand already.
        case CURLE_RECV_ERROR where detail.contains(" alert ") && detail.contains("certificate"),
            CURLE_RECV_ERROR where detail.contains(" alert unknown ca"):
            self = .insecure
        case CURLE_RECV_ERROR where detail.hasSuffix("chunked-encoding"):
            self = .invalidResponse
        case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_GOT_NOTHING:
            switch progress {
            case .connecting: self = .connectionFailed
            case .waitingForHead: self = .connectionLost
            case .receivingBody(let expected, let received): self = .truncated(expected: expected, received: received)
            }
        // A line of its own over the limit is all that libcurl says this of while it reads a head.
        case CURLE_OUT_OF_MEMORY where progress.isWaitingForHead:
            self = .headerTooLarge(limit: ResponseHeadParser.limit)
        // A header or trailer line that is no field, or a folded one that there is nothing to add to.
        case CURLE_BAD_FUNCTION_ARGUMENT where !progress.isConnecting:
            self = .invalidResponse
        // HTTP/0.9 is "unsupported"; the URL itself was judged before.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP_RETURNED_ERROR,
            CURLE_UNSUPPORTED_PROTOCOL:
            self = .invalidResponse
        default:
            self = .other(code: Int(code.rawValue))
        }
    }
}

extension TransportError.Reason {
    /// What to add to the reason: libcurl's words, unless they mislead or say the same once more.
    fileprivate func detail(_ code: CURLcode, saying text: String) -> String? {
        switch (self, code) {
        // "Out of memory", which it is not.
        case (.headerTooLarge, _): nil
        // "Empty reply from server"
        case (.connectionLost, CURLE_GOT_NOTHING): nil
        // "Received HTTP/0.9 when not allowed", whatever it was.
        case (.invalidResponse, CURLE_UNSUPPORTED_PROTOCOL) where text.hasPrefix("Received HTTP/0.9"):
            "it does not begin with a status line"
        // "Out of memory in chunked-encoding": libcurl takes trailer lines of up to 4 KiB.
        case (.invalidResponse, CURLE_RECV_ERROR) where text.hasPrefix("Out of memory"): "trailer line too long"
        // "A libcurl function was given a bad argument", "Failed reading the chunked-encoded stream"
        case (.invalidResponse, CURLE_BAD_FUNCTION_ARGUMENT): "malformed header line"
        default: text
        }
    }

    /// Returns whether libcurl's words for a handshake that failed are those of the socket, as OpenSSL has none.
    private static func isBrokenOff(_ detail: String) -> Bool {
        detail.hasPrefix("Recv failure") || detail.hasPrefix("Send failure") || detail.contains(" SSL_connect: ")
            || detail.hasSuffix("unexpected eof while reading")
    }
}

extension TransferProgress {
    fileprivate var isConnecting: Bool {
        if case .connecting = self { true } else { false }
    }

    fileprivate var isWaitingForHead: Bool {
        if case .waitingForHead = self { true } else { false }
    }
}
