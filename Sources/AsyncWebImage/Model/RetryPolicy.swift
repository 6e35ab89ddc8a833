import HTTPSemantics
import HTTPTransport
import HTTPTypes

/// Decides whether, and when, a download that failed is tried again.
///
/// Asked for failures that may pass: see ``ImageError/isRetryable``. Bodies that cannot be decoded, or are over a limit,
/// are never fetched again.
public protocol RetryPolicy: Sendable {
    /// How long to wait before the next try, or nil to give up.
    ///
    /// `tries` is how many have failed, at least 1, `error` how the last one did.
    func delay(after error: ImageError, tries: Int) -> Duration?
}

/// Tries again after twice the time with each failure, at a random moment within it, or when the server says.
///
/// The whole of the delay is random ("full jitter"), so that clients which failed together do not come back together.
public struct ExponentialBackoff: RetryPolicy, Hashable {
    /// How often a download is tried, the first time included.
    public var maximumTries: Int
    /// The longest delay after the first failure; twice that after the second, and so on.
    public var base: Duration
    /// The longest delay in any case.
    public var limit: Duration
    /// How long a server may ask us to wait by `Retry-After`; if it wants longer, the download fails at once.
    public var retryAfterLimit: Duration

    /// Three tries, at most 0.5 s after the first failure, never more than 30 s but what `Retry-After` says, up to 60 s.
    public init(
        maximumTries: Int = 3, base: Duration = .milliseconds(500), limit: Duration = .seconds(30),
        retryAfterLimit: Duration = .seconds(60)
    ) {
        self.maximumTries = maximumTries
        self.base = base
        self.limit = limit
        self.retryAfterLimit = retryAfterLimit
    }

    /// See ``RetryPolicy/delay(after:tries:)``.
    public func delay(after error: ImageError, tries: Int) -> Duration? {
        delay(after: error, tries: tries, random: Double.random(in: 0...1))
    }

    /// The same with `random`, from 0 to 1, in place of chance.
    func delay(after error: ImageError, tries: Int, random: Double) -> Duration? {
        guard tries < maximumTries else { return nil }
        if let wish = error.retryAfter { return wish <= retryAfterLimit ? wish : nil }
        // Doubling beyond that would overflow long before anybody waits for it.
        let longest = min(limit, base * (1 << min(max(tries - 1, 0), 20)))
        return longest * random
    }
}

extension ImageError {
    /// How long the server asks us to wait (RFC 9110, section 10.2.3).
    var retryAfter: Duration? {
        guard case .status(let head, _) = self else { return nil }
        return RetryAfter.seconds(head.response.headerFields).map { .seconds($0) }
    }
}
