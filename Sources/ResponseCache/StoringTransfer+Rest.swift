import HTTPSemantics
import HTTPTransport
import HTTPTypes
import Threading

// The answer may be the rest of a body whose beginning is stored.
extension StoringTransfer {
    /// The answer is the rest of what is stored.
    func goOn(with part: StoredPart, _ whole: StoredHead, _ head: ResponseHead) {
        let wholeHead = ResponseHead(response: whole.response, url: head.url)
        let isStorable =
            lookUp.request.forEverything.allowsStoring(wholeHead)
            && whole.contentLength ?? 0 <= lookUp.cache.configuration.entryLimit
        if !isStorable { remove(part) }
        let writer =
            isStorable
            ? EntryWriter(
                whole, lookUp.key, cache: lookUp.cache, length: whole.contentLength, continuing: part.stored) : nil
        let joined = part.isRequested ? nil : join(part)
        state.withLock { ($0.hasHead, $0.writer, $0.joined) = (true, writer, joined) }
        receiver.receive(joined == nil ? head : wholeHead, from: .network)
        joined?.start()
    }

    private func join(_ part: StoredPart) -> JoinedBody {
        JoinedBody(part.stored.body, of: lookUp.request.url.string, to: receiver, on: lookUp.cache.thread) { goesOn in
            if goesOn { self.resume() } else { self.state.withLock { $0.inner }?.cancel() }
        } end: {
            self.end(.over($0))
        }
    }

    func remove(_ part: StoredPart) {
        let (cache, name) = (lookUp.cache, part.stored.name)
        cache.thread.append { cache.remove(name) }
    }
}

extension ResponseHead {
    /// Whether it is of a part, or says that there is no such part.
    var isAboutRange: Bool { status == .partialContent || status == .rangeNotSatisfiable }
}
