/// The progress of downloading a body.
public struct DownloadProgress: Sendable, Hashable {
    /// The number of bytes received.
    public let received: Int
    /// The number of bytes of the whole body, if the server declares it.
    public let expected: Int?

    /// The received fraction, from 0 to 1; `nil` if the total is unknown.
    public var fraction: Double? {
        guard let expected, expected > 0 else { return nil }
        return min(1, Double(received) / Double(expected))
    }
}
