import HTTPTransport
import ResponseCache
import Threading

// The interface for callers that wait for the whole body, or observe its progress.
extension BodyLog {
    /// Keeps the whole body and passes it to `answer` at the end; returns `false` if its beginning has been
    /// discarded.
    func collect(for answer: OneShot<ResponseBody>, isJoined: Bool) -> Bool {
        let (hasBeginning, isOver) = resuming { state in
            guard state.buffer.hasBeginning else { return (false, false) }
            state.bodyWaiters.insert(BodyWaiters.BodyWaiter(answer: answer, isJoined: isJoined))
            return (true, state.end != nil)
        }
        if isOver { resumeBodyWaiters() }
        return hasBeginning
    }

    /// Reverts ``collect(for:isJoined:)``.
    func removeBodyWaiter(for answer: OneShot<ResponseBody>) {
        state.withLock { $0.bodyWaiters.remove(answer) }
    }

    /// Passes the body or the error to waiting callers once the transfer has ended.
    ///
    /// A task combines several pieces, because the calling thread may serve other transfers.
    func resumeBodyWaiters() {
        let hasPiecesToCombine = state.withLock { state in
            state.hasWholeBody && !state.bodyWaiters.isEmpty && state.buffer.pieceCount > 1
        }
        guard hasPiecesToCombine else { return answerBodyWaiters() }
        pendingAnswers.begin()
        // Detached: it belongs to no caller. A shutdown waits for it.
        Task.detached {
            self.answerBodyWaiters()
            self.pendingAnswers.end()
        }
    }

    func answerBodyWaiters() {
        let answer = state.withLock { state -> (BodyWaiters, End, [UInt8], ResponseSource)? in
            guard !state.bodyWaiters.isEmpty, let end = state.end else { return nil }
            let bodyWaiters = state.bodyWaiters
            state.bodyWaiters = BodyWaiters()
            return (bodyWaiters, end, state.hasWholeBody ? state.buffer.allBytes() : [], state.source)
        }
        guard let (bodyWaiters, end, bytes, source) = answer else { return }
        switch consume end {
        case .success(let delivery): bodyWaiters.deliver(bytes, delivery, from: source)
        case .failure(let error): bodyWaiters.fail(error)
        }
    }

    /// The progress of the body.
    var progress: DownloadProgress { state.withLock { $0.buffer.progress } }

    /// Sends the progress to `stream`, from now until the body's end.
    func watch(_ id: CallerID, _ stream: AsyncStream<DownloadProgress>.Continuation) {
        state.withLock { state in
            // Under the lock, so that it cannot replace a newer state.
            stream.yield(state.buffer.progress)
            if state.end == nil { state.watchers.insert(stream, of: id) } else { stream.finish() }
        }
    }

    /// Removes a stream whose consumer has left.
    func stopWatching(_ id: CallerID, _ stream: AsyncStream<DownloadProgress>.Continuation) {
        state.withLock { $0.watchers.remove(stream, of: id) }
    }

    /// Ends all streams that ``watch(_:_:)`` added for a caller.
    func stopWatching(_ id: CallerID) {
        for stream in state.withLock({ $0.watchers.remove(id) }) { stream.finish() }
    }
}
