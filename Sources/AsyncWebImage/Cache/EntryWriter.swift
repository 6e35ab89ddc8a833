import HTTPTransport
import Threading

/// Stores one response while it passes by.
///
/// Bytes come from the transport's thread and are written by the cache's. If the disk is so much slower that
/// ``queueLimit`` bytes wait, the response is not stored: a download never waits for it.
final class EntryWriter: Sendable {
    static let queueLimit = 4 << 20

    private struct State {
        var waiting: [[UInt8]] = []
        var waitingBytes = 0
        var received = 0
        var isScheduled = false
        var isGivenUp = false
        // Touched by the cache's thread only.
        var file: OpenFile?
        var temporaryName: String?
        var pieces: [[UInt8]] = []
        var written = 0
        var checksum = Checksum()
    }

    private let cache: ResponseCache
    private let head: StoredHead
    private let headBytes: [UInt8]
    private let name: String
    private let state = Locked(State())

    init(_ head: StoredHead, _ key: CacheKey, cache: ResponseCache) {
        self.cache = cache
        self.head = head
        headBytes = head.bytes
        name = head.name(key)
    }

    // MARK: The transport's thread

    /// Takes a copy of the next bytes of the body.
    func append(_ bytes: Span<UInt8>) {
        var copy: [UInt8] = []
        copy.append(copying: bytes)
        let (schedules, givesUp) = state.withLock { state in
            guard !state.isGivenUp else { return (false, false) }
            state.received += copy.count
            state.waitingBytes += copy.count
            if state.received > cache.configuration.entryLimit || state.waitingBytes > Self.queueLimit {
                state.isGivenUp = true
                state.waiting = []
                return (false, true)
            }
            state.waiting.append(copy)
            defer { state.isScheduled = true }
            return (!state.isScheduled, false)
        }
        if schedules { cache.thread.append { self.writeWaiting() } }
        if givesUp { cache.thread.append { self.discard() } }
    }

    /// The body is complete.
    func commit() {
        cache.thread.append {
            self.writeWaiting()
            self.finish()
        }
    }

    /// There will be no whole body.
    func abandon() {
        state.withLock { state in
            state.isGivenUp = true
            state.waiting = []
        }
        cache.thread.append { self.discard() }
    }

    // MARK: The cache's thread

    private func writeWaiting() {
        let pieces = state.withLock { state in
            defer { (state.waiting, state.waitingBytes, state.isScheduled) = ([], 0, false) }
            return state.waiting
        }
        write(pieces)
    }

    /// Writes pieces at once.
    func write(_ pieces: [[UInt8]]) {
        do {
            for piece in pieces { try write(piece) }
        } catch {
            discard()
        }
    }

    private func write(_ piece: [UInt8]) throws(FileFailure) {
        guard !state.withLock({ $0.isGivenUp }) else { return }
        if let folder = cache.folder {
            let open = state.withLock { $0.file }
            let file = if let open { open } else { try create(folder) }
            try file.write(piece, at: EntryFile.prefixLength + headBytes.count + state.withLock { $0.written })
        }
        state.withLock { state in
            if cache.folder == nil { state.pieces.append(piece) } else { state.checksum.add(piece) }
            state.written += piece.count
        }
    }

    private func create(_ folder: CacheFolder) throws(FileFailure) -> OpenFile {
        let name = CacheFolder.temporaryName()
        let file = try OpenFile(creating: folder.path(of: name))
        state.withLock { ($0.file, $0.temporaryName) = (file, name) }
        try file.write(headBytes, at: EntryFile.prefixLength)
        return file
    }

    /// Makes an entry of what was written.
    func finish() {
        let (isGivenUp, file, temporaryName, pieces, written, checksum) = state.withLock {
            ($0.isGivenUp, $0.file, $0.temporaryName, $0.pieces, $0.written, $0.checksum)
        }
        guard !isGivenUp, written > 0 else { return discard() }
        let size = EntryFile.prefixLength + headBytes.count + written
        guard size <= cache.configuration.byteLimit else { return discard() }
        if let folder = cache.folder {
            guard let file, let temporaryName else { return }
            do {
                try file.write(
                    EntryFile.prefix(head: headBytes, bodyLength: written, bodyChecksum: checksum), at: 0)
                try folder.rename(temporaryName, to: name)
            } catch {
                return discard()
            }
            cache.insert(name, size: size, nil)
        } else {
            cache.insert(
                name, size: size, StoredResponse(head: head, body: .memory(pieces, length: written)))
        }
        state.withLock { $0.isGivenUp = true }
    }

    /// Leaves nothing behind.
    func discard() {
        let temporaryName = state.withLock { state in
            state.isGivenUp = true
            defer { (state.file, state.temporaryName, state.pieces) = (nil, nil, []) }
            return state.temporaryName
        }
        if let temporaryName { cache.folder?.remove(temporaryName) }
    }
}
