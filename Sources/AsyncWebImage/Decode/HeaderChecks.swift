import ImageCodecs
import Threading

/// The checks of an arriving image that its callers make when the header is known.
final class HeaderChecks: Sendable {
    typealias Check = @Sendable (ImageHeader) -> Void

    private struct State {
        var header: ImageHeader?
        var checks: [UInt64: Check] = [:]
    }

    private let state = Locked(State())

    /// Adds a check, which is called immediately if the header is known, and again if the file starts over.
    func add(_ check: @escaping Check, id: UInt64) {
        let header = state.withLock { state in
            state.checks[id] = check
            return state.header
        }
        if let header { check(header) }
    }

    /// Removes a check.
    func remove(_ id: UInt64) {
        state.withLock { $0.checks[id] = nil }
    }

    /// Calls all checks.
    func publish(_ header: ImageHeader) {
        let checks = state.withLock { state in
            state.header = header
            return Array(state.checks.values)
        }
        for check in checks { check(header) }
    }
}
