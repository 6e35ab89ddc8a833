package import ResponseCache
import Threading

/// A storage made only with the public protocols: heads and bodies as bytes in a dictionary.
///
/// It reads in small portions, has several portions of keys, and can be damaged or made to fail.
package final class DictionaryStorage: ResponseStorage {
    private struct Item {
        var head: [UInt8]
        var bodyIdentity: Int
        var body: [UInt8]
        var use: Int

        var byteCount: Int { head.count + body.count }
    }

    private struct State {
        var items: [ResponseStorageKey: Item] = [:]
        var lastUse = 0
        var capacity = Int.max
        var failures: [Operation: any Error] = [:]
        /// The number of bytes at the beginning of a body that can be read even if reading fails.
        var readableBytes = 0
        var writers = 0
        var opened: [String] = []

        var byteCount: Int { items.values.reduce(0) { $0 + $1.byteCount } }

        mutating func use() -> Int {
            lastUse += 1
            return lastUse
        }
    }

    private let state: Locked<State>

    /// Creates a storage that is full when it has `capacity` bytes.
    package init(capacity: Int = .max) {
        state = Locked(State(capacity: capacity))
    }

    // MARK: Faults

    package enum Operation: Sendable, CaseIterable {
        case list
        case open
        case read
        case write
        case remove
    }

    /// Lets operations fail from now on; by default, all.
    ///
    /// The first `readableBytes` bytes of each body can still be read.
    package func fail(_ error: any Error, in operations: [Operation] = Operation.allCases, readableBytes: Int = 0) {
        state.withLock { state in
            for operation in operations { state.failures[operation] = error }
            state.readableBytes = readableBytes
        }
    }

    /// Lets all operations succeed again.
    package func recover() { state.withLock { $0.failures = [:] } }

    /// Changes one byte of all heads or bodies.
    package func damage(_ field: Field) {
        state.withLock { state in
            for key in state.items.keys {
                switch field {
                case .head: state.items[key]?.head[20] ^= 1
                case .body: state.items[key]?.body[0] ^= 1
                }
            }
        }
    }

    package enum Field: Sendable {
        case head
        case body
    }

    /// The number of writers that have been neither committed nor discarded.
    package var openWriters: Int { state.withLock { $0.writers } }

    /// The names of the keys under which entries have been looked up, in order.
    package var openedNames: [String] { state.withLock { $0.opened } }

    // MARK: ResponseStorage

    package var byteCount: Int { state.withLock { $0.byteCount } }
    package var entryCount: Int { state.withLock { $0.items.count } }

    package func entry(_ key: ResponseStorageKey) throws -> (any ResponseStorageEntry)? {
        state.withLock { $0.opened.append(key.name) }
        guard let item = try intact(.open, { $0.items[key] }) else { return nil }
        return Entry(head: try ResponseStorageHead(item.head), key: key, storage: self)
    }

    package func keys(ofResource resource: String) throws -> [ResponseStorageKey] {
        try intact(.list) { state in
            state.items.filter { $0.key.resource == resource }.sorted { $0.value.use > $1.value.use }.map(\.key)
        }
    }

    package var portionCount: Int { 2 }

    package func keys(inPortion portion: Int) throws -> [ResponseStorageKey] {
        try intact(.list) { $0.items.keys.filter { ($0.name < "8" ? 0 : 1) == portion } }
    }

    package func writer(headByteCount: Int) throws -> any ResponseStorageWriter {
        try intact(.write) { $0.writers += 1 }
        return Writer(storage: self)
    }

    package func replaceHead(_ key: ResponseStorageKey, with head: ResponseStorageHead) throws -> Bool {
        try intact(.write) { state in
            guard state.items[key]?.bodyIdentity == head.bodyIdentity else { return false }
            state.items[key]?.head = head.bytes
            return true
        }
    }

    package func remove(_ key: ResponseStorageKey) throws { try intact(.remove) { $0.items[key] = nil } }

    package func removeAll() throws { try intact(.remove) { $0.items = [:] } }

    package func trim(to maximumBytes: Int) throws -> Int {
        try intact(.remove) { state in
            var removed = 0
            while state.byteCount > maximumBytes, let oldest = state.items.min(by: { $0.value.use < $1.value.use }) {
                state.items[oldest.key] = nil
                removed += 1
            }
            return removed
        }
    }

    private func intact<Result: Sendable>(
        _ operation: Operation, _ body: (inout State) throws -> Result
    ) throws -> Result {
        try state.withLock { state in
            if let failure = state.failures[operation] { throw failure }
            return try body(&state)
        }
    }
}

extension DictionaryStorage {
    private struct Entry: ResponseStorageEntry {
        let head: ResponseStorageHead
        let key: ResponseStorageKey
        let storage: DictionaryStorage

        func read(_ maximumCount: Int, at offset: Int) throws -> [UInt8] {
            try storage.state.withLock { state in
                if let failure = state.failures[.read], offset >= state.readableBytes { throw failure }
                guard let item = state.items[key], item.bodyIdentity == head.bodyIdentity else { return [] }
                return Array(item.body.dropFirst(offset).prefix(min(maximumCount, 50_000)))
            }
        }

        func markUsed() {
            storage.state.withLock { state in
                let use = state.use()
                state.items[key]?.use = use
            }
        }
    }

    private struct Writer: ResponseStorageWriter {
        let storage: DictionaryStorage
        private var body: [UInt8] = []

        init(storage: DictionaryStorage) {
            self.storage = storage
        }

        mutating func append(_ bytes: [UInt8]) throws {
            try storage.intact(.write) { _ in }
            body += bytes
        }

        mutating func commit(_ head: ResponseStorageHead, as key: ResponseStorageKey) throws {
            var item = Item(head: head.bytes, bodyIdentity: head.bodyIdentity, body: body, use: 0)
            try storage.intact(.write) { state in
                guard state.byteCount + item.byteCount <= state.capacity else { throw ResponseStorageError.full }
                item.use = state.use()
                state.items[key] = item
                state.writers -= 1
            }
        }

        mutating func discard() {
            body = []
            storage.state.withLock { $0.writers -= 1 }
        }
    }
}
