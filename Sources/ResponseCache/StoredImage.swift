import Hashing
import HTTPTypes
import Threading

/// Returns the variant of the image that all readers of a body want instead of the body; `nil` if a reader wants the
/// body itself.
package typealias WantedImage = @Sendable () -> String?

/// A decoded image that is stored beside the response from which it was decoded.
///
/// It is an entry of the same resource. Its head names the body and the variant, a text that describes how the image
/// was decoded, so that it is never used for another body or another variant.
package struct StoredImage: Sendable {
    /// The variant.
    package let variant: String
    /// The length of the body from which it was decoded, in bytes.
    package let sourceByteCount: Int
    let stored: StoredResponse
    let cache: ResponseCache

    /// Returns whether another stored image is the same entry with the same contents.
    package func isSame(as other: StoredImage) -> Bool {
        stored.name == other.stored.name && stored.body.facts == other.stored.body.facts
    }

    /// The length of the stored image in bytes.
    package var byteCount: Int { stored.body.length }

    /// Reads the image on the cache's threads: `body` gets a function that returns the next piece, `nil` at the end.
    ///
    /// Returns `nil` if the entry is damaged, in which case it is removed, or cannot be read. `body` returns `nil` if
    /// the bytes are not those of an image.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (_ next: () throws -> [UInt8]?) throws -> Result?
    ) async -> Result? {
        await cache.thread.run(to: stored.body.isShort ? .short : .long) { [stored, cache] in
            var reader = StoredBodyReader(stored.body)
            do {
                if let result = try body({ try reader.next() }) { return result }
                cache.removeIfUnchanged(stored)
            } catch let error as StoredBodyError {
                cache.removeDamaged(stored, after: error)
            } catch {}
            return nil
        }
    }
}

// MARK: - Names and heads

extension StoredImage {
    /// The beginning of the second part of the names of images, by which they are told from responses with `Vary`.
    private static let mark = "00000000"
    private static let sourceField = HTTPField.Name("image-source")
    private static let variantField = HTTPField.Name("image-variant")

    /// Returns whether a name of any kind is that of an image.
    static func isName(_ name: String) -> Bool { name.dropFirst(33).hasPrefix(mark) }

    /// Returns the name of the image of a variant of the entry `source`.
    static func name(_ variant: String, of source: String) -> String {
        let hash = SHA256.hash("\(source) \(variant)").prefix(4).hexadecimal
        return EntryKind.image.name("\(source.prefix(32))-\(mark)\(hash)")
    }

    /// Returns the fields that name the body and the variant.
    static func fields(_ variant: String, of source: String, _ facts: BodyFacts) -> HTTPFields {
        var fields = HTTPFields()
        if let sourceField, let variantField {
            fields[sourceField] = text(source, facts)
            fields[variantField] = variant
        }
        return fields
    }

    /// Returns whether a head is that of the image of a variant.
    static func matches(_ head: StoredHead, _ variant: String, of source: StoredResponse) -> Bool {
        guard let sourceField, let variantField else { return false }
        let fields = head.fields
        return head.url == source.head.url && head.owner == source.head.owner
            && fields[sourceField] == text(source.name, source.body.facts) && fields[variantField] == variant
    }

    /// Returns the name of the entry that a head names as the source of its image.
    static func sourceName(_ head: StoredHead) -> String? {
        sourceField.flatMap { head.fields[$0] }?.split(separator: " ").first.map(String.init)
    }

    /// Returns whether a head names this entry as the source of its image.
    static func isDecoded(_ head: StoredHead, from source: StoredResponse) -> Bool {
        sourceField.flatMap { head.fields[$0] } == text(source.name, source.body.facts)
    }

    private static func text(_ source: String, _ facts: BodyFacts) -> String {
        "\(source) \(facts.identity) \(facts.length) \(facts.checksum.value)"
    }
}
