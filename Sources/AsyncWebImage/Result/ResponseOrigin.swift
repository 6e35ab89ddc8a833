import HTTPTransport
import ResponseCache

/// The response that a result was decoded from.
struct ResponseOrigin: Sendable {
    let head: ResponseHead
    var source: ResponseSource
    /// The size of the body in bytes.
    let byteCount: Int
    /// The metrics of the transfer; `nil` if the result was ready before the transfer had ended.
    let metrics: TransferMetrics?
}

extension ResponseSource {
    /// A Boolean value that indicates whether the bytes were stored in a response cache, and not received just now.
    var isStored: Bool {
        switch self {
        case .disk, .responseCacheMemory, .revalidated: true
        case .network, .source, .joined, .imageCache: false
        }
    }
}

/// The head and the metrics of a complete response, shared by all callers that receive its body.
final class Delivery: Sendable {
    let head: ResponseHead
    let metrics: TransferMetrics

    init(head: ResponseHead, metrics: TransferMetrics) {
        self.head = head
        self.metrics = metrics
    }
}
