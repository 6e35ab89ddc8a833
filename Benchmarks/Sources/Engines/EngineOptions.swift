/// The options of an engine.
public struct EngineOptions: Sendable, Hashable {
    /// The limits on transfers, or `nil` for the engine's defaults.
    public var limits: EngineLimits?
    /// The file of the certificate authorities that are trusted, or `nil` for the engine's default.
    public var certificateAuthorityFile: String?

    /// Creates options; by default, those of the engine.
    public init(limits: EngineLimits? = nil, certificateAuthorityFile: String? = nil) {
        self.limits = limits
        self.certificateAuthorityFile = certificateAuthorityFile
    }
}

/// The maximum numbers of transfers at a time.
///
/// Engines without a limit on all transfers ignore ``total``.
public struct EngineLimits: Sendable, Hashable, Codable {
    /// The maximum number of transfers.
    public var total: Int
    /// The maximum number of transfers from one host.
    public var perHost: Int

    /// Creates limits.
    public init(total: Int, perHost: Int) {
        self.total = total
        self.perHost = perHost
    }
}
