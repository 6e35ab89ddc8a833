import Hashing

/// The properties of a stored body, by which it is verified.
package struct BodyFacts: Sendable, Equatable {
    /// A number that is different for every stored body, and greater than those of bodies that were stored before.
    let identity: Int
    let length: Int
    let checksum: CRC32C
}

/// The head of an entry of a ``ResponseStorage``: the stored response without its body, and a checksum of the body.
public struct ResponseStorageHead: Sendable {
    let head: StoredHead
    let body: BodyFacts

    /// The length of the body in bytes.
    public var bodyLength: Int { body.length }

    /// A number that identifies the body: it stays the same when the head is replaced.
    public var bodyIdentity: Int { body.identity }

    init(_ head: StoredHead, _ body: BodyFacts) {
        self.head = head
        self.body = body
    }
}

// MARK: - As bytes

extension ResponseStorageHead {
    /// The number of bytes before those of the response's head.
    private static let prefixLength = 32
    /// The maximum length of a body, in bytes, which is more than any storage has.
    static let maximumBodyLength = 1 << 48

    /// The head as bytes, which begin with the version of their format and a checksum.
    public var bytes: [UInt8] {
        var fields: [UInt8] = []
        fields.append(body.identity)
        fields.append(body.length)
        fields.append(body.checksum.value)
        fields += head.bytes
        var bytes = Self.magic
        bytes.reserveCapacity(fields.count + Self.prefixLength)
        bytes.append(CRC32C(of: fields.span).value)
        return bytes + fields
    }

    /// Creates a head from its bytes.
    ///
    /// Throws ``ResponseStorageError/damaged`` if the bytes have been changed, or are those of another version.
    public init(_ bytes: [UInt8]) throws(ResponseStorageError) {
        var reader = ByteFieldReader(bytes, from: Self.magic.count)
        guard bytes.starts(with: Self.magic), let checksum = reader.number32(),
            CRC32C(of: bytes.span.extracting((Self.magic.count + 4)...)).value == checksum,
            let identity = reader.number(), let length = reader.number(), length <= Self.maximumBodyLength,
            let bodyChecksum = reader.number32(),
            let head = StoredHead(Array(bytes.dropFirst(Self.prefixLength)))
        else { throw .damaged }
        self.head = head
        body = BodyFacts(identity: identity, length: length, checksum: CRC32C(bodyChecksum))
    }

    private static let magic = Array("awichea2".utf8)
}
