import HTTPSemantics
import Hashing
import Threading

/// An entry being written, on the cache's thread: in a folder, a file with a temporary name until it is complete.
struct EntryDraft {
    private let cache: ResponseCache
    private let head: StoredHead
    /// The name of the entry with the whole body.
    private let name: String
    private var file: (handle: OpenFile, name: String)?
    /// The pieces in memory.
    private var pieces: [[UInt8]] = []
    private var length = 0
    private var checksum = CRC32()
    /// The required length of the whole body, if known.
    private var total: Int?
    private var isTakenOver = false
    /// A Boolean value that indicates whether it has become an entry, or never will.
    private var isOver = false
    /// A Boolean value that indicates whether it was abandoned for lack of space or because of a disk error.
    private(set) var isAbandoned = false

    /// Creates a draft of an entry whose body must be `length` bytes long, if known.
    init(_ head: StoredHead, _ key: CacheKey, cache: ResponseCache, length: Int? = nil) {
        self.cache = cache
        self.head = head
        total = length
        name = head.name(key)
    }

    /// Continues a stored part, which this draft then owns.
    ///
    /// If another download or process has taken it first, no entry will be created.
    mutating func takeOver(_ part: StoredResponse) {
        isTakenOver = true
        let known = cache.index.withLock { index in
            defer { _ = index.remove(part.name) }
            return index.content(part.name) ?? nil
        }
        switch part.body {
        case .memory(let pieces, let length):
            guard let known, known.head == part.head, known.body.length == length else { return discard() }
            (self.pieces, self.length) = (pieces, length)
        case .file(_, let facts):
            guard let folder = cache.folder else { return discard() }
            let name = CacheFolder.temporaryName()
            guard (try? folder.rename(part.name, to: name)) != nil else { return discard() }
            guard let handle = try? folder.openForUpdate(name), EntryFile.read(.part, handle)?.body == facts else {
                folder.remove(name)
                return discard()
            }
            (file, length, checksum) = ((handle, name), facts.length, facts.checksum)
        }
    }

    /// Appends to the body.
    mutating func write(_ piece: [UInt8]) {
        guard !isOver else { return }
        if let folder = cache.folder {
            do {
                try openFile(in: folder).write(piece, at: EntryFile.prefixLength + length)
            } catch {
                return giveUp()
            }
            checksum.update(piece.span)
        } else {
            // Without the room that it does not need.
            var exact: [UInt8] = []
            exact.reserveCapacity(piece.count)
            exact += piece
            pieces.append(exact)
        }
        length += piece.count
    }

    private mutating func openFile(in folder: CacheFolder) throws(FileFailure) -> OpenFile {
        if let file { return file.handle }
        let name = CacheFolder.temporaryName()
        let handle = try folder.create(name)
        file = (handle, name)
        return handle
    }

    /// Makes an entry of the written data if it has the required length.
    ///
    /// A response whose framing contradicts its `Content-Length` is not stored, because it is unknown which of the
    /// two is correct; an earlier entry is kept. A remainder that is too short is stored together with the part it
    /// continues.
    mutating func finish() {
        guard total == nil || total == length else { return isTakenOver ? keep() : discard() }
        // A representation without data is a fault of the origin; other responses need none.
        if length == 0, Storability.statuses.contains(head.status) { return giveUp() }
        if !finish(as: head.kind) { giveUp() }
    }

    /// Stores the written data as the beginning of the body, if the remainder can be requested.
    mutating func keep() {
        let isContinuable =
            Storability.statuses.contains(head.status) && StrongValidator.ofContinuable(head.fields) != nil
            && head.contentLength.map { length < $0 } ?? true
        guard isContinuable, length >= Resumption.minimumBytes, finish(as: .part) else { return discard() }
    }

    /// Returns `false` if there can be no such entry.
    private mutating func finish(as kind: EntryKind) -> Bool {
        let entry = kind.name(name)
        let headBytes = head.bytes
        let size = EntryFile.prefixLength + length + headBytes.count
        guard !isOver, size <= cache.configuration.maximumBytes else { return false }
        if let folder = cache.folder {
            do {
                let handle = try openFile(in: folder)
                try handle.write(headBytes, at: EntryFile.prefixLength + length)
                // The head of the part can have been longer.
                if isTakenOver { try handle.truncate(to: size) }
                let facts = EntryFile.BodyFacts(
                    identity: .random(in: 0...Int.max), length: length, checksum: checksum)
                try handle.write(EntryFile.prefix(kind, head: headBytes, body: facts), at: 0)
                guard let file else { return false }
                try folder.rename(file.name, to: entry)
            } catch {
                return false
            }
            // It belongs to the previous body.
            if kind == .whole { folder.remove(RenewedHeadFile.name(entry)) }
            cache.insert(entry, size: size, nil)
        } else {
            let body = StoredBody.memory(pieces, length: length)
            cache.insert(entry, size: size, StoredResponse(name: entry, head: head, body: body))
        }
        (isOver, file, pieces) = (true, nil, [])
        return true
    }

    /// Abandons the draft, unless it has ended: the response cannot be stored.
    mutating func giveUp() {
        if !isOver { isAbandoned = true }
        discard()
    }

    /// Discards all data.
    mutating func discard() {
        if let file { cache.folder?.remove(file.name) }
        (isOver, file, pieces) = (true, nil, [])
    }
}
