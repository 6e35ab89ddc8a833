public import HTTPSemantics
public import HTTPTransport
public import ResponseCache

/// A downloaded body, not decoded.
public struct ResponseBody: Sendable {
    /// The body.
    public let bytes: [UInt8]
    /// The source of the bytes, for this caller.
    public let source: ResponseSource
    let delivery: Delivery

    /// The status and header fields of the response.
    public var head: ResponseHead { delivery.head }
    /// How long the response stays fresh, from now; determined on every access.
    public var freshness: Freshness { head.freshness() }
    /// The durations and sizes of the transfer.
    public var metrics: TransferMetrics { delivery.metrics }
}
