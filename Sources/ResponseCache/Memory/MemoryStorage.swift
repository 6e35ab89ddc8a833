import Threading

/// A storage of responses in memory.
final class MemoryStorage: ImmediateStorage {
    private let index = Locked(MemoryIndex<Content>())

    fileprivate struct Content: Sendable {
        let head: ResponseStorageHead
        /// The body in pieces of ``StoredBody/pieceLength`` bytes; only the last one can be shorter.
        let pieces: [[UInt8]]

        var byteCount: Int { head.bytes.count + head.bodyLength }
    }

    let isInMemory = true
    var byteCount: Int { index.withLock { $0.size } }
    var entryCount: Int { index.withLock { $0.count } }

    func entry(_ key: ResponseStorageKey) -> (any ResponseStorageEntry)? {
        index.withLock { $0.content(key) }.map { Entry(content: $0, key: key, index: index) }
    }

    func immediateEntry(_ key: ResponseStorageKey) -> ImmediateEntry? {
        let found = index.withLock { index -> Content? in
            guard let content = index.content(key), content.head.bodyLength <= StoredBody.maximumShortLength else {
                return nil
            }
            index.touch(key)
            return content
        }
        guard let content = found else { return nil }
        guard content.pieces.count > 1 else {
            return ImmediateEntry(head: content.head, body: content.pieces.first ?? [])
        }
        var body: [UInt8] = []
        body.reserveCapacity(content.head.bodyLength)
        for piece in content.pieces { body += piece }
        return ImmediateEntry(head: content.head, body: body)
    }

    func fits(in maximumBytes: Int) -> Bool { byteCount <= maximumBytes }

    /// Does nothing, because uses are recorded immediately.
    func recordUses() {}

    func keys(ofResource resource: String) -> [ResponseStorageKey] {
        index.withLock { $0.keys(of: resource) }
    }

    func keys(inPortion portion: Int) -> [ResponseStorageKey] {
        index.withLock { $0.keys }
    }

    func writer(headByteCount: Int) -> any ResponseStorageWriter {
        Writer(index: index)
    }

    func replaceHead(_ key: ResponseStorageKey, with head: ResponseStorageHead) -> Bool {
        index.withLock { index in
            guard let known = index.content(key), known.head.body == head.body,
                head.head.updates(known.head.head)
            else { return false }
            let content = Content(head: head, pieces: known.pieces)
            index.insert(key, size: content.byteCount, content)
            return true
        }
    }

    func remove(_ key: ResponseStorageKey) { index.withLock { _ = $0.remove(key) } }

    func removeAll() { index.withLock { $0.removeAll() } }

    func trim(to maximumBytes: Int) -> Int { index.withLock { $0.evict(to: maximumBytes).count } }
}

extension MemoryStorage {
    private struct Entry: ResponseStorageEntry {
        let content: Content
        let key: ResponseStorageKey
        let index: Locked<MemoryIndex<Content>>

        var head: ResponseStorageHead { content.head }

        func read(_ maximumCount: Int, at offset: Int) -> [UInt8] {
            let (number, start) = offset.quotientAndRemainder(dividingBy: StoredBody.pieceLength)
            guard number < content.pieces.count else { return [] }
            let piece = content.pieces[number]
            return start == 0 && piece.count <= maximumCount
                ? piece : Array(piece.dropFirst(start).prefix(maximumCount))
        }

        func markUsed() { index.withLock { $0.touch(key) } }
    }

    private struct Writer: ResponseStorageWriter {
        let index: Locked<MemoryIndex<Content>>
        private var pieces: [[UInt8]] = []

        init(index: Locked<MemoryIndex<Content>>) {
            self.index = index
        }

        mutating func append(_ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let length = pieces.last.map { $0.count % StoredBody.pieceLength } ?? 0
                if length == 0 { pieces.append([]) }
                let piece = rest.prefix(StoredBody.pieceLength - length)
                let needed = length + piece.count
                if pieces[pieces.count - 1].capacity < needed {
                    pieces[pieces.count - 1].reserveCapacity(min(max(needed, 2 * length), StoredBody.pieceLength))
                }
                pieces[pieces.count - 1] += piece
                rest = rest.dropFirst(piece.count)
            }
        }

        mutating func commit(_ head: ResponseStorageHead, as key: ResponseStorageKey) {
            if let last = pieces.popLast() { pieces.append(last.withoutUnusedCapacity) }
            let content = Content(head: head, pieces: pieces)
            index.withLock { $0.insert(key, size: content.byteCount, content) }
        }

        mutating func discard() { pieces = [] }
    }
}

extension [UInt8] {
    /// The same bytes, without unused capacity if it exceeds an eighth of their number.
    fileprivate var withoutUnusedCapacity: [UInt8] {
        guard capacity - count > count / 8 else { return self }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        bytes += self
        return bytes
    }
}
