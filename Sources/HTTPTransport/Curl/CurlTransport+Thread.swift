import SocketPolling

// The commands for the transport's thread, and the work of each of its iterations.

extension CurlTransport {
    /// A command from another thread.
    ///
    /// Values in the thread's inbox instead of jobs of the actor, so that starting and ending a transfer takes no
    /// task.
    enum Command: Sendable {
        case begin(CurlTransferHandle)
        case cancel(CurlTransferHandle)
        case resume(CurlTransferHandle)
        case resolved(UInt64, host: String, DNSCache.Answer)
    }

    /// Performs a command on the thread.
    nonisolated func perform(_ command: Command) {
        assumeIsolated { transport in
            switch command {
            case .begin(let handle): transport.begin(handle)
            case .cancel(let handle): transport.cancel(handle)
            case .resume(let handle): transport.resume(handle)
            case .resolved(let id, let host, let answer): transport.resolved(id, host, answer)
            }
        }
    }
}

extension CurlTransport: CurlThreadDriver {
    nonisolated func maximumSleep() -> Duration? {
        assumeIsolated { transport in
            // Commands may have added transfers, which start with the timers.
            transport.multi.runTimers(now: transport.deadlines.now)
            transport.finishCompleted()
            transport.deadlines.beginTurn()
            guard !transport.shares.hasWaiting else { return .zero }
            let now = transport.deadlines.now
            let waits = [transport.multi.timer?.wait(from: now), transport.deadlines.next.map { now.duration(to: $0) }]
            return waits.compactMap { $0 }.min().map { max(.zero, $0) }
        }
    }

    nonisolated func handle(eventCount: Int) {
        assumeIsolated { transport in
            transport.deadlines.beginTurn()
            transport.shares.beginRound(at: transport.deadlines.now)
            transport.resumeFairnessPauses()
            transport.thread.poller.deliver(eventCount, to: transport.multi.handle)
            transport.multi.runTimers(now: transport.deadlines.now)
            transport.finishCompleted()
            transport.expireOverdue()
        }
    }

    private func expireOverdue() {
        for (transfer, deadline) in deadlines.overdue(transfers.values) {
            // The remainder of an intermediate response need not be read.
            if deadline != .total, transfer.clock.phase == .discarding, continueIfNeeded(transfer) {
                deadlines.expect(transfer.clock)
            } else {
                finish(transfer, transfer.outcome(after: deadline))
            }
        }
    }
}
