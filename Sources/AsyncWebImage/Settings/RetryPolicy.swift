import HTTPSemantics
import HTTPTransport
import HTTPTypes

/// A policy that determines whether and when a failed download is retried.
///
/// The policy applies only to temporary failures; see ``ImageError/isRetryable``. A body that cannot be decoded, or
/// that exceeds a limit, is not retried.
public protocol RetryPolicy: Sendable {
    /// Returns the delay before the next attempt, or `nil` to fail.
    ///
    /// `attempts` is the number of failed attempts, at least 1; `error` is the error of the last one. The threads that
    /// call this method serve many downloads, so it must not block.
    func delay(after error: ImageError, attempts: Int) -> Duration?
}

/// A retry policy that waits for a random time, whose maximum doubles with each failure, or for the time that the
/// server requests in `Retry-After` if that is longer.
///
/// The whole delay is random ("full jitter"), so that clients that failed together do not retry together.
public struct ExponentialBackoff: RetryPolicy, Hashable {
    /// The maximum number of attempts, including the first.
    public var maximumAttempts: Int
    /// The maximum delay after the first failure; it doubles with each further failure.
    public var base: Duration
    /// The maximum random delay; ``maximumRetryAfter`` limits the delays requested by `Retry-After` instead.
    public var maximumDelay: Duration
    /// The maximum delay accepted from `Retry-After`; if the server requests more, the download fails immediately.
    public var maximumRetryAfter: Duration

    /// Creates a policy.
    ///
    /// By default, there are three attempts. Delays are at most 0.5 s after the first failure and never more than 30 s,
    /// except that a delay of up to 60 s requested by `Retry-After` is accepted.
    public init(
        maximumAttempts: Int = 3, base: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(30),
        maximumRetryAfter: Duration = .seconds(60)
    ) {
        self.maximumAttempts = maximumAttempts
        self.base = base
        self.maximumDelay = maximumDelay
        self.maximumRetryAfter = maximumRetryAfter
    }

    /// See ``RetryPolicy/delay(after:attempts:)``.
    public func delay(after error: ImageError, attempts: Int) -> Duration? {
        delay(after: error, attempts: attempts, random: Double.random(in: 0...1))
    }

    /// Returns the delay for the random number `random`, from 0 to 1.
    func delay(after error: ImageError, attempts: Int, random: Double) -> Duration? {
        guard attempts < maximumAttempts else { return nil }
        // Further doubling could overflow and would exceed any practical delay.
        let longest = min(maximumDelay, base * (1 << min(max(attempts - 1, 0), 20)))
        // A server that asks for no delay, or for a short one, is spared the retries of all clients at once as well.
        guard let requested = error.retryAfter else { return longest * random }
        return requested <= maximumRetryAfter ? max(requested, longest * random) : nil
    }
}

extension ImageError {
    /// The delay requested by the server (RFC 9110, section 10.2.3).
    var retryAfter: Duration? {
        guard case .status(let head, _) = self else { return nil }
        return RetryAfter.seconds(head.response.headerFields).map { .seconds($0) }
    }
}
