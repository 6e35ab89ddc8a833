/// A place where a ``ResponseCache`` keeps responses, such as a folder, memory, or a database.
///
/// A storage is a key-value store whose values have a head and a body. It knows nothing of HTTP: the cache decides
/// which responses to store, use, update, and remove, and verifies the bodies that it reads. The storage owns the
/// accounting of sizes and the order of removal; the cache determines when to call ``trim(to:)``.
///
/// All methods are called on threads of the cache, several at a time, and may block; the properties are also read on
/// other threads. If a method throws an error, the cache continues without the response: nothing is served from the
/// storage, or nothing is stored. See ``ResponseStorageError`` for the errors with special meanings.
public protocol ResponseStorage: Sendable {
    /// A Boolean value that indicates whether responses are kept in memory, which determines their
    /// ``ResponseSource``; `false` by default.
    var isInMemory: Bool { get }

    /// The size of all entries in bytes, in the unit of ``trim(to:)``.
    var byteCount: Int { get }

    /// The number of entries.
    var entryCount: Int { get }

    /// Returns the entry for a key; `nil` if there is none.
    func entry(_ key: ResponseStorageKey) throws -> (any ResponseStorageEntry)?

    /// Returns the keys of all entries of a resource, the most recently stored first.
    ///
    /// Keys of entries that do not exist can be included.
    func keys(ofResource resource: String) throws -> [ResponseStorageKey]

    /// The number of portions in which ``keys(inPortion:)`` lists the entries; 1 by default.
    var portionCount: Int { get }

    /// Returns the keys of a portion of all entries, in no particular order.
    ///
    /// `portion` is from 0 to ``portionCount`` - 1.
    func keys(inPortion portion: Int) throws -> [ResponseStorageKey]

    /// Returns a writer for a new entry, which is not visible until it is committed.
    ///
    /// `headByteCount` is the approximate size of the head, which is known only at the end.
    func writer(headByteCount: Int) throws -> any ResponseStorageWriter

    /// Replaces the head of an entry, and keeps its body; returns `false` if that is impossible.
    ///
    /// If the ``ResponseStorageHead/bodyIdentity`` of the entry is another one, the entry has been replaced, and must
    /// not be changed.
    func replaceHead(_ key: ResponseStorageKey, with head: ResponseStorageHead) throws -> Bool

    /// Removes the entry for a key, if there is one.
    func remove(_ key: ResponseStorageKey) throws

    /// Removes all entries.
    func removeAll() throws

    /// Removes the least recently used entries until the others take at most `maximumBytes` bytes; returns the number
    /// of removed entries.
    ///
    /// It is called when a cache is created, regularly while responses are stored, whenever the storage is full, and by
    /// ``ResponseCache/trim(to:)`` and ``ResponseCache/flush()``.
    func trim(to maximumBytes: Int) throws -> Int
}

extension ResponseStorage {
    /// `false`.
    public var isInMemory: Bool { false }

    /// One portion.
    public var portionCount: Int { 1 }
}

/// An entry of a ``ResponseStorage``.
public protocol ResponseStorageEntry: Sendable {
    /// The head.
    var head: ResponseStorageHead { get }

    /// The space that the entry takes, in bytes; by default, the sizes of its head and body.
    var byteCount: Int { get }

    /// Returns the bytes of the body at `offset`: at least one, and at most `maximumCount`.
    ///
    /// If the entry has been removed or replaced, the original body can still be read, or the method returns an empty
    /// array or throws an error; the loader then downloads the response. The cache removes an entry whose body is too
    /// short or has been changed, but not after an error, except ``ResponseStorageError/damaged``.
    func read(_ maximumCount: Int, at offset: Int) throws -> [UInt8]

    /// Marks the entry as recently used.
    func markUsed()
}

extension ResponseStorageEntry {
    /// The sizes of the head and the body.
    public var byteCount: Int { head.bytes.count + head.bodyLength }
}

/// A new entry of a ``ResponseStorage`` whose body is being written, by one thread at a time.
///
/// The cache calls ``commit(_:as:)`` or ``discard()`` at the end. A method that throws an error must leave the writer
/// unchanged, because it may be called again.
public protocol ResponseStorageWriter: Sendable {
    /// Appends to the body.
    mutating func append(_ bytes: [UInt8]) throws

    /// Makes the written body an entry with this head, atomically replacing the one with the same key.
    mutating func commit(_ head: ResponseStorageHead, as key: ResponseStorageKey) throws

    /// Discards the written body.
    mutating func discard()
}

/// An error of a ``ResponseStorage`` that the cache handles specially.
///
/// The loader logs the first error, other than ``unavailable``, that prevents storing a response.
public enum ResponseStorageError: Error, Hashable {
    /// The entry is damaged: the cache removes it.
    case damaged
    /// There is no room: the cache trims the storage and tries again, up to three times.
    case full
    /// The storage cannot be used for the moment: the response is not stored, and nothing is logged.
    case unavailable
}
