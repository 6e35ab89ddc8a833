/// How much of a body has come.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes of body so far.
    public let received: Int
    /// Bytes of the whole body, if the server says how many.
    public let expected: Int?

    /// The share that has come, from 0 to 1; nil if it is not known how much will.
    public var fraction: Double? {
        guard let expected, expected > 0 else { return nil }
        return min(1, Double(received) / Double(expected))
    }
}
