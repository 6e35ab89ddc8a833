import HTTPSemantics
import Hashing
import Threading

/// An entry being written, by one thread at a time.
struct EntryDraft {
    /// The number of bytes after which the beginning of a body is recorded, so that it outlives the process.
    static let checkpointInterval = 128 << 10

    private let cache: ResponseCache
    private let head: StoredHead
    private let resource: CachedResource
    /// The size of the head.
    private let headByteCount: Int
    private var writer: (any ResponseStorageWriter)?
    private var length = 0
    private var checksum = CRC32C()
    /// The length that was recorded last.
    private var recordedLength = 0
    /// The space that the other entries may lose for this one.
    private var room: EntryRoom
    /// The required length of the whole body, if known.
    private let total: Int?
    /// The stored part that the draft continues.
    private var part: StoredResponse?
    /// A Boolean value that indicates whether the draft has been stored or discarded.
    private var isOver = false
    /// A Boolean value that indicates whether it was abandoned for lack of space or because of an error of the storage.
    private(set) var isAbandoned = false

    /// Creates a draft of an entry whose body must be `length` bytes long, if known.
    init(_ head: StoredHead, _ resource: CachedResource, cache: ResponseCache, length: Int? = nil) {
        self.cache = cache
        let head = head.packed
        self.head = head
        self.resource = resource
        total = length
        headByteCount = head.bytes.count
        room = EntryRoom(length)
    }

    /// Begins with a copy of a stored part, which is removed at the end.
    ///
    /// If the part has been removed or replaced, no entry will be created.
    mutating func `continue`(_ part: StoredResponse) {
        guard let opened = cache.reopen(part) else { return discard() }
        self.part = opened
        write(opened)
    }

    /// Appends a stored body.
    mutating func write(_ stored: StoredResponse) {
        var reader = StoredBodyReader(stored.body)
        do throws(StoredBodyError) {
            while !isOver, let piece = try reader.next() { write(piece) }
        } catch {
            if error == .unreadable { part = nil }
            discard()
        }
    }

    /// Appends to the body.
    mutating func write(_ piece: [UInt8]) {
        guard !isOver else { return }
        guard fits(max(total ?? 0, length + piece.count)) else { return giveUp() }
        do {
            try writing(piece.count) { writer throws in try writer.append(piece) }
        } catch {
            return giveUp()
        }
        checksum.update(piece.span)
        length += piece.count
        room.missing = total.map { max(0, $0 - length) }
    }

    private func fits(_ length: Int) -> Bool { length + headByteCount <= cache.configuration.maximumBytes }

    /// Records the written data as the beginning of the body, unless little has been written since the last time, or the
    /// remainder could not be requested.
    mutating func checkpoint() {
        guard !isOver, length - recordedLength >= Self.checkpointInterval, isContinuable,
            var writer = writer as? any CheckpointingWriter
        else { return }
        recordedLength = length
        self.writer = nil
        // Without a record, only a process that is killed loses something.
        try? writer.checkpoint(ResponseStorageHead(head, facts))
        self.writer = writer
    }

    /// Runs `write`, which needs `count` bytes, with the writer.
    private mutating func writing(
        _ count: Int, _ write: (inout any ResponseStorageWriter) throws -> Void
    ) throws {
        // Its bytes have one owner at a time, so that they are not copied.
        var writer = try writer.take() ?? openWriter(count)
        defer { self.writer = writer }
        try cache.writing(count, &room) { try write(&writer) }
    }

    private mutating func openWriter(_ count: Int) throws -> any ResponseStorageWriter {
        let (cache, headByteCount) = (cache, headByteCount)
        return try cache.writing(count, &room) { try cache.storage.writer(headByteCount: headByteCount) }
    }

    /// Makes an entry of the written data if it has the required length.
    ///
    /// A response whose framing contradicts its `Content-Length` is not stored, because it is unknown which of the
    /// two is correct; an earlier entry is kept. A remainder that is too short is stored together with the part it
    /// continues.
    mutating func finish(as kind: EntryKind = .whole) {
        guard total == nil || total == length else { return part == nil ? discard() : keep() }
        // A representation without data is a fault of the origin; other responses need none.
        if length == 0, Storability.statuses.contains(head.status) { return giveUp() }
        if !store(as: kind) { giveUp() }
    }

    /// Stores the written data as the beginning of the body, if the remainder can be requested.
    mutating func keep() {
        guard isContinuable, length >= Resumption.minimumBytes, store(as: .part) else { return discard() }
    }

    /// A Boolean value that indicates whether the written data is a beginning whose remainder can be requested.
    private var isContinuable: Bool {
        Storability.statuses.contains(head.status) && StrongValidator.ofContinuable(head.fields) != nil
            && head.contentLength.map { length < $0 } ?? true
    }

    /// The properties of the written data, as those of a new body.
    private var facts: BodyFacts {
        BodyFacts(identity: Self.newIdentity(), length: length, checksum: checksum)
    }

    /// Returns the identity of a body that is stored now: the time in nanoseconds, with ten random bits at the end.
    private static func newIdentity() -> Int { OpenFile.now & Int.max & ~0x3FF | Int.random(in: 0...0x3FF) }

    /// Stores the draft as an entry of this kind, or discards it if the stored one is newer; returns `false` if neither
    /// is possible.
    private mutating func store(as kind: EntryKind) -> Bool {
        let size = length + headByteCount
        guard !isOver, fits(length) else { return false }
        let key = head.key(resource, kind)
        if let stored = cache.open(key), cache.isNewer(stored.head, than: head) {
            discard()
            return true
        }
        let committed = ResponseStorageHead(head, facts)
        do {
            try writing(headByteCount) { writer throws in try writer.commit(committed, as: key) }
        } catch {
            return false
        }
        (isOver, writer) = (true, nil)
        if let part, part.key != key { cache.removeIfUnchanged(part) }
        cache.didInsert(key, committed, size: size)
        return true
    }

    /// Abandons the draft, unless it has ended: the response cannot be stored.
    mutating func giveUp() {
        if !isOver { isAbandoned = true }
        discard()
    }

    /// Discards all data, and the part that it continues.
    mutating func discard() {
        writer?.discard()
        if !isOver, let part { cache.removeIfUnchanged(part) }
        (isOver, writer) = (true, nil)
    }
}
