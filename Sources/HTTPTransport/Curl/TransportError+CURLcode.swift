import CCurl

extension TransportError {
    /// Creates the error for `code`, the result of a transfer of `url`; `detail` is the text of libcurl's error
    /// buffer.
    init(_ code: CURLcode, url: String, detail: String, progress: TransferProgress) {
        let text = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail
        let reason = Reason(code, detail: text, progress: progress)
        self.init(
            url: url, reason: reason,
            // libcurl quotes an invalid proxy entirely, including its password.
            detail: reason.detail(code, saying: text).map { String(HTTPURL.withoutUserInformation($0).prefix(200)) })
    }
}

extension TransportError.Reason {
    fileprivate init(_ code: CURLcode, detail: String, progress: TransferProgress) {
        switch code {
        case CURLE_URL_MALFORMAT:
            self = .invalidURL
        // Before any attempt, with codes that also have other meanings.
        case _ where detail.hasPrefix("Unsupported proxy"):
            self = .invalidProxy
        case CURLE_COULDNT_RESOLVE_HOST:
            self = .hostNotFound
        case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY, CURLE_INTERFACE_FAILED:
            self = .connectionFailed
        // A server that disconnects during the handshake did not reject it.
        case CURLE_SSL_CONNECT_ERROR where Self.isBrokenOff(detail):
            self = .connectionFailed
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_SHUTDOWN_FAILED, CURLE_USE_SSL_FAILED, CURLE_SSL_CLIENTCERT,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
            self = .tlsFailure
        case CURLE_OPERATION_TIMEDOUT:
            if case .connecting = progress { self = .timedOut(.connect) } else { self = .timedOut(.total) }
        // With TLS 1.3, a server checks the client certificate after the connection counts as established.
        case CURLE_RECV_ERROR where detail.contains(" alert ") && detail.contains("certificate"),
            CURLE_RECV_ERROR where detail.contains(" alert unknown ca"):
            self = .tlsFailure
        case CURLE_RECV_ERROR where detail.hasSuffix("chunked-encoding"):
            self = .invalidResponse
        case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            self = progress.loss
        // libcurl reports a single line over the limit in this way while it reads a head.
        case CURLE_OUT_OF_MEMORY where progress.isWaitingForHead:
            self = .headerTooLarge(limit: ResponseHeadParser.limit)
        // A header or trailer line that is not a field, or a folded line without a preceding field.
        case CURLE_BAD_FUNCTION_ARGUMENT where !progress.isConnecting:
            self = .invalidResponse
        // HTTP/0.9 is reported as "unsupported"; the URL itself has been checked before.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP_RETURNED_ERROR,
            CURLE_UNSUPPORTED_PROTOCOL:
            self = .invalidResponse
        default:
            self = .other(code: Int(code.rawValue))
        }
    }
}

extension TransportError.Reason {
    /// Returns libcurl's message, unless it is misleading or repeats the reason.
    fileprivate func detail(_ code: CURLcode, saying text: String) -> String? {
        switch (self, code) {
        // "Out of memory", which is not the cause.
        case (.headerTooLarge, _): nil
        // "Empty reply from server"
        case (.connectionLost, CURLE_GOT_NOTHING): nil
        // "Received HTTP/0.9 when not allowed", regardless of what it was.
        case (.invalidResponse, CURLE_UNSUPPORTED_PROTOCOL) where text.hasPrefix("Received HTTP/0.9"):
            "it does not begin with a status line"
        // "Out of memory in chunked-encoding": libcurl accepts trailer lines of up to 4 KiB.
        case (.invalidResponse, CURLE_RECV_ERROR) where text.hasPrefix("Out of memory"): "trailer line too long"
        // "A libcurl function was given a bad argument", "Failed reading the chunked-encoded stream"
        case (.invalidResponse, CURLE_BAD_FUNCTION_ARGUMENT): "malformed header line"
        default: text
        }
    }

    /// Returns whether libcurl's message for a failed handshake describes the socket, because OpenSSL has no message.
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
