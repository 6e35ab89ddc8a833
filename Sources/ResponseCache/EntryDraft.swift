import HTTPSemantics
import Hashing
import Threading

/// An entry being written, by one thread at a time: in a folder, a temporary file until it is complete.
struct EntryDraft {
    private let cache: ResponseCache
    private let head: StoredHead
    private let headBytes: [UInt8]
    /// The name of the entry with the whole body.
    private let name: String
    private var file: TemporaryFile?
    /// The position of the body in the file; `nil` if the head is too long to be stored.
    private var offset: Int?
    /// The pieces in memory.
    private var pieces: [[UInt8]] = []
    private var length = 0
    private var checksum = CRC32C()
    /// The required length of the whole body, if known.
    private let total: Int?
    private var isTakenOver = false
    /// A Boolean value that indicates whether the draft has been stored or discarded.
    private var isOver = false
    /// A Boolean value that indicates whether it was abandoned for lack of space or because of a disk error.
    private(set) var isAbandoned = false

    /// Creates a draft of an entry whose body must be `length` bytes long, if known.
    init(_ head: StoredHead, _ key: CacheKey, cache: ResponseCache, length: Int? = nil) {
        self.cache = cache
        self.head = head
        total = length
        name = head.name(key)
        headBytes = head.bytes
        offset = EntryFile.regionLength(for: headBytes)
    }

    /// Continues a stored part, which this draft then owns.
    ///
    /// If another download or process has taken it first, no entry will be created.
    mutating func takeOver(_ part: StoredResponse) {
        isTakenOver = true
        switch part.body {
        case .memory(let pieces, let length):
            let known = cache.entries.withLock { entries in
                defer { _ = entries.remove(part.name) }
                return entries.content(part.name)
            }
            guard let known, known.head == part.head, known.body.length == length else { return discard() }
            (self.pieces, self.length) = (pieces, length)
        case .file(_, let facts), .loaded(_, let facts):
            guard let folder = cache.folder, let file = try? folder.take(part.name) else { return discard() }
            // The head of the whole must fit where that of the part is.
            guard EntryFile.read(.part, file.file)?.body == facts, let offset, offset <= facts.offset else {
                file.remove()
                return discard()
            }
            (self.file, self.offset, length, checksum) = (file, facts.offset, facts.length, facts.checksum)
        }
    }

    /// Appends to the body.
    mutating func write(_ piece: [UInt8]) {
        guard !isOver else { return }
        if let folder = cache.folder {
            guard let offset else { return giveUp() }
            do throws(FileFailure) {
                let file = try openFile(in: folder, for: piece.count)
                try cache.writing(piece.count) { () throws(FileFailure) in
                    try file.write(piece, at: offset + length)
                }
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

    private mutating func openFile(in folder: EntryFolder, for count: Int) throws(FileFailure) -> OpenFile {
        if let file { return file.file }
        let file = try cache.writing(count) { () throws(FileFailure) in try folder.create() }
        self.file = file
        return file.file
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

    /// Stores the draft as an entry of this kind; returns `false` if that is impossible.
    private mutating func finish(as kind: EntryKind) -> Bool {
        let entry = kind.name(name)
        guard !isOver else { return false }
        if let folder = cache.folder {
            guard let offset else { return false }
            let facts = EntryFile.BodyFacts(
                identity: .random(in: 0...Int.max), length: length, checksum: checksum, offset: offset)
            guard EntryFolder.File.space(of: facts.fileSize) <= cache.configuration.maximumBytes else { return false }
            do throws(FileFailure) {
                let file = try openFile(in: folder, for: offset)
                try cache.writing(offset) { () throws(FileFailure) in
                    try file.write(EntryFile.region(kind, head: headBytes, body: facts), at: 0)
                }
            } catch {
                return false
            }
            guard let file else { return false }
            file.file.touch()
            guard cache.insert(file, as: entry, size: facts.fileSize) else { return false }
        } else {
            let size = length + headBytes.count
            guard size <= cache.configuration.maximumBytes else { return false }
            let body = StoredBody.memory(pieces, length: length)
            cache.insert(StoredResponse(name: entry, head: head, body: body), size: size)
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
        file?.remove()
        (isOver, file, pieces) = (true, nil, [])
    }
}
