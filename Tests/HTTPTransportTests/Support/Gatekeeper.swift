import HTTPTransport
import TestSupport
import Threading

/// A lookup that waits until it is released, and counts calls.
final class Gatekeeper: Sendable {
    struct Counts {
        var running = 0
        var maximum = 0
        var lookups: [String] = []
    }
    let counts = Locked(Counts())
    private let gate = ThreadGate()
    private let begun = Tally()

    func open() { gate.open() }

    /// Returns when at least `count` lookups have begun.
    func lookups(reach count: Int) async {
        await begun.reaches(count)
    }

    @Sendable func lookup(_ host: String) throws(LookupFailure) -> [IPAddress] {
        counts.withLock { counts in
            counts.running += 1
            counts.maximum = max(counts.maximum, counts.running)
            counts.lookups.append(host)
        }
        begun.add()
        gate.wait()
        counts.withLock { $0.running -= 1 }
        if host.hasPrefix("bad") { throw LookupFailure(message: "no") }
        return ["127.0.0.1"]
    }
}
