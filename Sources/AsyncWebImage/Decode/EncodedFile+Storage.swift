import Hashing
import ImageCodecs
import ResponseCache

// Encoded files in the response cache.
extension EncodedFile {
    /// Creates a file that has just been encoded.
    init(_ bytes: [UInt8], _ format: ImageFormat, _ size: PixelSize, of header: ImageHeader, isPartial: Bool) {
        self.init(
            bytes: bytes, format: format, size: size,
            entityTag: "\"\(SHA256.hash(bytes).prefix(16).hexadecimal)\"", isPartial: isPartial, header: header)
    }

    /// Creates a file from a stored one; returns `nil` if that was made by another rule.
    init?(_ stored: StoredResult, _ rule: OutputRule) {
        let words = stored.properties.split(separator: " ")
        guard words.count == 4, let width = Int(words[1]), let height = Int(words[2]),
            let format = rule.formats.first(where: { $0.mediaType == words[0] })
        else { return nil }
        self.init(
            bytes: stored.bytes, format: format, size: PixelSize(width: width, height: height),
            entityTag: String(words[3]))
    }

    /// The properties that are stored with the bytes.
    var properties: String { "\(format.mediaType) \(size.width) \(size.height) \(entityTag)" }
}

/// The identity of an encoded file: what it is made of, and how.
///
/// An object, because callers, which are copied often, contain it.
final class FileIdentity: Sendable, Hashable {
    let recipe: PixelRecipe
    let rule: OutputRule
    /// The hash value of the properties that distinguish most files of an image, because identities are hashed often.
    private let hash: Int

    init(recipe: PixelRecipe, rule: OutputRule) {
        self.recipe = recipe
        self.rule = rule
        var hasher = Hasher()
        hasher.combine(recipe.options.target)
        hasher.combine(rule)
        hash = hasher.finalize()
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func == (left: FileIdentity, right: FileIdentity) -> Bool {
        left === right || left.hash == right.hash && left.rule == right.rule && left.recipe == right.recipe
    }

    /// Returns the key under which the file is stored; `nil` if the policy or the source forbids storing it.
    func key(of fetch: FetchKey, _ configuration: DownloadConfiguration) -> ResultKey? {
        guard fetch.usesResponseCache else { return nil }
        var request = configuration.request(for: fetch)
        request.headerFields = request.headerFields.withoutConditions
        return ResultKey(of: request, policy: fetch.cachePolicy, identity: "\(recipe.identity)\n\(rule.identity)")
    }
}

extension StoredResult {
    /// The response from which the result was computed.
    var origin: ResponseOrigin {
        ResponseOrigin(head: head, source: source, byteCount: bytes.count, metrics: nil)
    }
}
