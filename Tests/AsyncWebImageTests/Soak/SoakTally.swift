import AsyncWebImage
import Threading

/// The numbers of requests by outcome, and the unexpected outcomes.
final class SoakTally: Sendable {
    private struct State {
        var ends: [String: Int] = [:]
        var findings: [String] = []
        var pending: [String: Int] = [:]
    }

    /// The maximum number of findings that are kept.
    private static let findingLimit = 20

    private let state = Locked(State())

    var requests: Int { state.withLock { $0.ends.values.reduce(0, +) } }
    var findings: [String] { state.withLock { $0.findings } }

    /// The results with their counts, the most frequent first.
    var ends: String {
        let ends = state.withLock { $0.ends }
        return ends.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }
            .joined(separator: ", ")
    }

    /// The requests that callers currently wait for, with counts.
    var pending: String {
        let pending = state.withLock { $0.pending.filter { $0.value > 0 } }
        return pending.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    /// Records that a caller waits for `operation` while `body` runs.
    func waiting(for operation: String, _ body: () async -> Void) async {
        state.withLock { $0.pending[operation, default: 0] += 1 }
        await body()
        state.withLock { $0.pending[operation, default: 0] -= 1 }
    }

    /// Records a violation.
    func find(_ finding: String) {
        state.withLock { if $0.findings.count < Self.findingLimit { $0.findings.append(finding) } }
    }

    func succeed() { note("ok") }

    /// Counts `error`; one that no caller may ever see is a finding.
    func fail(_ error: any Error) {
        switch error {
        case is CancellationError: note("cancelled")
        case ImageError.transport(let cause):
            note(cause.reason.kind)
            switch cause.reason {
            // Internal errors, unknown codes, and exhausted resources of this machine.
            case .cancelled, .other, .invalidURL, .hostNotFound, .lookupFailed, .threadStartFailed, .refusedByPolicy:
                find("\(cause) of \(cause.url)")
            default: break
            }
        case ImageError.status(let head, _): note("\(head.status.code)")
        case ImageError.emptyBody: note("empty")
        case ImageError.codec, is CodecError: note("undecodable")
        default: find("unexpected error \(error)")
        }
    }

    /// Counts `error` of a request for an intact image; any error except a timeout and a cancellation is a finding.
    func failSound(_ error: any Error) {
        fail(error)
        switch error {
        case is CancellationError: break
        case ImageError.transport(let cause):
            if case .timedOut = cause.reason { break }
            find("a sound image failed: \(cause)")
        default: find("a sound image failed: \(error)")
        }
    }

    private func note(_ end: String) { state.withLock { $0.ends[end, default: 0] += 1 } }
}

extension TransportError.Reason {
    /// The case's name.
    fileprivate var kind: String { String("\(self)".prefix { $0 != "(" }) }
}
