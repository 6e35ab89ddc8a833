import Glibc
package import Threading

/// Returns a function that starts a thread only if `isStarted` returns `true` for the number of the attempt, from 1.
package func limitedThreads(
    named name: String, startedIf isStarted: @escaping @Sendable (_ attempt: Int) -> Bool
) -> ThreadStarter {
    let attempts = Locked(0)
    return { body throws(ThreadFailure) in
        let attempt = attempts.withLock { attempts in
            attempts += 1
            return attempts
        }
        guard isStarted(attempt) else { throw ThreadFailure(code: EAGAIN) }
        try startThread(named: name, body)
    }
}
