import Hashing

/// A stored response that can be served.
package struct StoredResponse: Sendable {
    /// The key of its entry.
    package let key: ResponseStorageKey
    package let head: StoredHead
    package let body: StoredBody
}

/// The bytes of a stored body.
package enum StoredBody: Sendable {
    /// An entry of a storage, which is released while it is not being read.
    case entry((any ResponseStorageEntry)?, BodyFacts)
    /// The verified bytes of an entry.
    case bytes([UInt8], BodyFacts)

    /// The maximum length of a body that is read at once.
    ///
    /// That takes a fifth of the time of reading it in pieces, each by another job of the cache.
    static let maximumShortLength = 2 << 20
    /// The number of bytes of a longer body that are read at a time.
    static let pieceLength = 128 << 10

    /// The properties of the body.
    var facts: BodyFacts {
        switch self {
        case .entry(_, let facts), .bytes(_, let facts): facts
        }
    }

    package var length: Int { facts.length }

    /// Marks the entry as recently used.
    func markUsed() {
        if case .entry(let entry?, _) = self { entry.markUsed() }
    }

    /// A Boolean value that indicates whether the body is read at once: it is served faster than in pieces.
    var isShort: Bool { length <= Self.maximumShortLength }

    /// Reads all of the body; throws an error if it is not intact.
    func verify() throws(StoredBodyError) {
        var reader = StoredBodyReader(self)
        while try reader.next() != nil {}
    }
}

/// The reason why a stored body cannot be delivered.
package enum StoredBodyError: Error {
    /// The body is too short, or has been changed.
    case damaged
    /// The storage failed to read the body, which may be intact.
    case unreadable
}
