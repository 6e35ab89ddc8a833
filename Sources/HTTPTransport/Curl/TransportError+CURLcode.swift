import CCurl

extension TransportError {
    /// What `code`, the result of a transfer of `url`, means; `detail` is the text of libcurl's error buffer.
    init(_ code: CURLcode, url: String, detail: String, expectedBytes: Int?, receivedBytes: Int) {
        let text = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail
        self.init(
            url: url,
            reason: Reason(code, expectedBytes: expectedBytes, receivedBytes: receivedBytes),
            detail: String(text.prefix(200)))
    }
}

extension TransportError.Reason {
    fileprivate init(_ code: CURLcode, expectedBytes: Int?, receivedBytes: Int) {
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            self = .invalidURL
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            self = .hostNotFound
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED:
            self = .connectionFailed
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_SHUTDOWN_FAILED, CURLE_USE_SSL_FAILED, CURLE_SSL_CLIENTCERT,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
            self = .insecure
        case CURLE_OPERATION_TIMEDOUT:
            self = .timedOut(.total)
        case CURLE_PARTIAL_FILE:
            self = .truncated(expected: expectedBytes, received: receivedBytes)
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_GOT_NOTHING:
            self = receivedBytes > 0 ? .truncated(expected: expectedBytes, received: receivedBytes) : .connectionLost
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP_RETURNED_ERROR:
            self = .invalidResponse
        default:
            self = .other(code: Int(code.rawValue))
        }
    }
}
