import HTTPTypes

/// The announcement of a peer to close the connection (GOAWAY).
struct HTTP2Close: Equatable {
    /// The maximum number of bytes of the peer's explanation, which is ignored if it is longer.
    static let maximumTextSize = 100

    let code: HTTP2ErrorCode
    /// The peer's explanation; empty if there is none in printable ASCII.
    let text: String

    /// Creates an announcement with additional data, which are a text or anything else.
    init(_ code: HTTP2ErrorCode, data: some Collection<UInt8>) {
        self.code = code
        let isText = data.count <= Self.maximumTextSize && data.allSatisfy { (0x20...0x7E).contains($0) }
        text = isText ? String(decoding: data, as: UTF8.self) : ""
    }

    /// A description for the error of a request; `nil` for a connection that is closed without a problem.
    var detail: String? {
        guard code != .noError || !text.isEmpty else { return nil }
        let detail = code.detail("closed the connection")
        return text.isEmpty ? detail : "\(detail) (\"\(text)\")"
    }
}
