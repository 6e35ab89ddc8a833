import HTTPTypes

extension HTTP2ErrorCode {
    /// A description of what the server has done with this code, and what it means (RFC 9113, section 7).
    func detail(_ action: String) -> String {
        let statement = "the server \(action) with \(self)"
        return meaning.map { "\(statement): \($0)" } ?? statement
    }

    private var meaning: String? {
        switch self {
        case .protocolError, .flowControlError, .settingsTimeout, .streamClosed, .frameSizeError, .compressionError:
            "it does not accept what this client sent"
        case .internalError: "it has a fault of its own"
        case .refusedStream: "it has not processed the request"
        case .cancel: "it has given the response up"
        case .enhanceYourCalm: "it receives too much; fewer requests at a time may help"
        case .inadequateSecurity: "it requires other settings of TLS"
        case .http11Required: "it requires HTTP/1.1"
        default: nil
        }
    }
}
