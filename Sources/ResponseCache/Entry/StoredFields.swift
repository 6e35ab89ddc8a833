import HTTPSemantics
import HTTPTypes

/// The header fields of a stored response.
///
/// Those that were read from a storage are parsed on demand: their freshness is stored beside them, so that most hits
/// need no field.
struct StoredFields: Sendable {
    private enum Content {
        case parsed(HTTPFields)
        /// The names and values, each preceded by its length, and the freshness computed from them.
        case bytes([UInt8], StoredFreshness)
    }

    private let content: Content

    init(_ fields: HTTPFields) { content = .parsed(fields) }

    /// Reads the remaining bytes, which are parsed later.
    ///
    /// Returns `nil` if they are not those of fields.
    init?(from reader: inout ByteFieldReader, _ freshness: StoredFreshness) {
        let start = reader.index
        guard let count = reader.number() else { return nil }
        var read = 0
        while read < count {
            guard reader.positions() != nil, reader.positions() != nil else { return nil }
            read += 1
        }
        content = .bytes(Array(reader.all[start..<reader.index]), freshness)
    }

    private init(_ content: Content) { self.content = content }

    /// The fields as bytes.
    func packed(_ freshness: StoredFreshness) -> StoredFields {
        guard case .parsed = content else { return self }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        append(to: &bytes)
        return StoredFields(.bytes(bytes, freshness))
    }

    /// The fields; parsed on every access if they were read from a storage.
    var parsed: HTTPFields {
        switch content {
        case .parsed(let fields): return fields
        case .bytes(let bytes, _):
            var reader = ByteFieldReader(bytes)
            var fields = HTTPFields()
            for _ in 0..<(reader.number() ?? 0) {
                guard let name = reader.text(), let value = reader.bytes() else { break }
                if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
            }
            return fields
        }
    }

    /// The freshness that was stored with the fields; `nil` for others.
    var freshness: StoredFreshness? {
        switch content {
        case .parsed: nil
        case .bytes(_, let freshness): freshness
        }
    }

    /// The memory that the fields take, in bytes.
    var byteCount: Int {
        switch content {
        case .parsed(let fields):
            fields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
        case .bytes(let bytes, _): bytes.count
        }
    }

    func append(to bytes: inout [UInt8]) {
        switch content {
        case .bytes(let own, _): bytes += own
        case .parsed(let fields):
            bytes.append(fields.count)
            for field in fields {
                bytes.append(text: field.name.rawName)
                bytes.append(bytes: field.bytes)
            }
        }
    }
}

extension StoredFields: Equatable {
    static func == (one: StoredFields, other: StoredFields) -> Bool {
        if case .bytes(let one, _) = one.content, case .bytes(let other, _) = other.content, one == other {
            return true
        }
        return one.parsed == other.parsed
    }
}

extension StoredFreshness {
    private static let limit = 1 << 48

    func append(to bytes: inout [UInt8]) {
        bytes.append(lifetime)
        bytes.append(initialAge)
        let flags = [directives.noCache, directives.mustRevalidate, directives.isImmutable]
        bytes.append(flags.enumerated().reduce(0) { $0 | ($1.element ? 1 << $1.offset : 0) })
        // A missing time is written as a larger number than any time.
        bytes.append(directives.staleIfError ?? Self.limit)
        bytes.append(directives.staleWhileRevalidate ?? Self.limit)
    }

    /// Reads what ``append(to:)`` has written; returns `nil` for other bytes.
    init?(from reader: inout ByteFieldReader, receivedAt: Int) {
        guard let lifetime = reader.number(), let age = reader.number(), let flags = reader.number(),
            let staleIfError = reader.number(), let staleWhileRevalidate = reader.number(),
            max(lifetime, age) < Self.limit, max(staleIfError, staleWhileRevalidate) <= Self.limit
        else { return nil }
        var directives = Directives()
        directives.noCache = flags & 1 != 0
        directives.mustRevalidate = flags & 2 != 0
        directives.isImmutable = flags & 4 != 0
        directives.staleIfError = staleIfError < Self.limit ? staleIfError : nil
        directives.staleWhileRevalidate = staleWhileRevalidate < Self.limit ? staleWhileRevalidate : nil
        self.init(lifetime: lifetime, initialAge: age, receivedAt: receivedAt, directives: directives)
    }
}
