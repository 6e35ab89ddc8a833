import HTTPTransport
import Logging
import ResponseCache
import Threading

/// Stored responses that callers get on their own threads, without a download.
///
/// It applies to bodies that the response cache can read without waiting for a disk, while nothing observes or changes
/// downloads. In all other cases, including those of responses that are not accepted, the caller requests a download.
final class ImmediateResponses: Sendable {
    /// The settings of downloads for which responses are looked up.
    private final class Settings: Sendable {
        let configuration: DownloadConfiguration
        let rules: ResponseRules

        init(_ configuration: DownloadConfiguration) {
            self.configuration = configuration
            rules = ResponseRules(configuration)
        }
    }

    private struct State {
        /// `nil` if there are hooks.
        var settings: Settings?
        var isSuspended = false
        var hasEnded = false
    }

    private let cache: ResponseCache
    private let logger: Logger
    private let recordsQueries: Bool
    private let state: Locked<State>

    /// Creates the immediate responses of a cache; returns `nil` if there is no cache.
    init?(
        _ cache: ResponseCache?, _ configuration: DownloadConfiguration, logger: Logger, recordsQueries: Bool = false
    ) {
        guard let cache else { return nil }
        self.recordsQueries = recordsQueries
        self.cache = cache
        self.logger = logger
        state = Locked(State(settings: Self.settings(configuration)))
    }

    private static func settings(_ configuration: DownloadConfiguration) -> Settings? {
        DownloadHooks(configuration) == nil ? Settings(configuration) : nil
    }

    /// Applies a configuration from now on.
    func configure(_ configuration: DownloadConfiguration) {
        let settings = Self.settings(configuration)
        state.withLock { $0.settings = settings }
    }

    /// Stops or resumes responses, because no downloads may start, or they may again.
    func setSuspended(_ isSuspended: Bool) { state.withLock { $0.isSuspended = isSuspended } }

    /// Ends responses, because the loader is being shut down.
    func end() { state.withLock { $0.hasEnded = true } }

    /// Returns the key under which an encoded file is stored; `nil` if stored files are not used now.
    func resultKey(_ identity: FileIdentity, of key: FetchKey) -> ResultKey? {
        let settings = state.withLock { $0.isSuspended || $0.hasEnded ? nil : $0.settings }
        return settings.flatMap { identity.key(of: key, $0.configuration) }
    }

    /// Returns whether a stored file may be used for a request, according to the response from which it was made.
    func accepts(_ head: ResponseHead, for key: FetchKey) -> Bool {
        guard let rules = state.withLock({ $0.settings?.rules })?.with(key.transfer) else { return false }
        return rules.accepts(head.status) && rules.acceptsType(of: head)
    }

    /// Returns the body of a stored response; `nil` if a download is required.
    func data(for key: FetchKey) -> ResponseBody? {
        let settings = state.withLock { $0.isSuspended || $0.hasEnded ? nil : $0.settings }
        guard let settings, !key.isConditional else { return nil }
        let rules = settings.rules.with(key.transfer)
        let response = cache.immediateResponse(
            to: settings.configuration.request(for: key), policy: key.cachePolicy
        ) { head in
            // Redirects are followed, and an empty body is an error.
            rules.accepts(head.status) && rules.acceptsType(of: head)
                && head.status.kind != .redirection && head.contentLength ?? 0 > 0
        }
        guard let (reply, body) = response else { return nil }
        logger.debug("downloaded", metadata: ["url": "\(key.url.recorded(withQuery: recordsQueries))", "bytes": "0"])
        return ResponseBody(
            bytes: body, source: reply.source, delivery: Delivery(head: reply.head, metrics: TransferMetrics()))
    }
}
