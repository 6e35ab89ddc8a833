import SocketPolling

// The commands for the worker's thread, and the work of each of its iterations.

extension CurlWorker {
    /// Performs a command on the thread.
    nonisolated func perform(_ command: consuming TransferCommand) {
        // Not one closure, which would copy the command.
        switch consume command {
        case .begin(let handle): assumeIsolated { $0.begin(handle) }
        case .cancel(let handle): assumeIsolated { $0.cancel(handle) }
        case .resume(let handle): assumeIsolated { $0.resume(handle) }
        case .resolved(let id, let host, let answer): assumeIsolated { $0.resolved(id, host, answer) }
        case .answered(let id, let key, let answer): assumeIsolated { $0.answered(id, key, answer) }
        }
    }
}

extension CurlWorker: TransferThreadDriver {
    nonisolated func prepareToWait() -> TransferThread.Wait {
        assumeIsolated { worker in
            // Commands may have added transfers, which start with the timers.
            worker.multi.runTimers(now: worker.deadlines.now)
            worker.finishCompleted()
            worker.deadlines.beginTurn()
            return TransferThread.Wait(timeout: worker.maximumWait, hasTransfers: !worker.transfers.isEmpty)
        }
    }

    nonisolated func handle(eventCount: Int) {
        assumeIsolated { worker in
            worker.deadlines.beginTurn()
            worker.shares.beginRound(at: worker.deadlines.now)
            worker.resumeFairnessPauses()
            worker.thread.poller.deliver(eventCount) { event in
                if !worker.pool.handle(event) { worker.multi.handle(event) }
            }
            worker.pool.readUnfinished()
            worker.pool.handleDue()
            worker.multi.runTimers(now: worker.deadlines.now)
            worker.finishCompleted()
            worker.expireOverdue()
        }
    }

    private var maximumWait: Duration? {
        guard !shares.hasWaiting, !pool.hasUnfinished else { return .zero }
        let now = deadlines.now
        let times = [deadlines.next, pool.nextDue].lazy.compactMap { $0 }
        let waits = [multi.timer?.wait(from: now), times.min().map { now.duration(to: $0) }]
        return waits.compactMap { $0 }.min().map { max(.zero, $0) }
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
