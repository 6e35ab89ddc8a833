import AsyncWebImage

/// How much memory `webimage get` may use for images.
struct MemoryLimits: Sendable, Equatable {
    /// Work that takes no more bytes may hold them while it waits for a server; other work begins when all has come.
    static let small = 4 << 20
    /// How much of an image may be held while its header has not come; of a longer beginning no more is held than a piece,
    /// and the header is looked for in the file.
    static let beginning = 1 << 20

    /// The maximum number of bytes that the check of one image may take.
    var check = 112 << 20
    /// The maximum number of bytes for all images under way that are checked and written as they are.
    var allChecks = 160 << 20
    /// The maximum number of bytes for all images under way that are decoded and written anew.
    var allConversions = ImageDecoder.Configuration().memoryBudget

    /// The defaults, or with `--memory-limit` as many bytes as it says for one image, whatever is done with it.
    init(bytes: Int? = nil) {
        guard let bytes else { return }
        check = bytes
        allChecks = max(bytes, allChecks)
        allConversions = bytes
    }

    /// Throws ``MemoryShortage`` if a check may never take so many bytes.
    func admitCheck(of bytes: Int, by decoder: ImageDecoder) throws {
        let limit = min(check, decoder.configuration.memoryBudget)
        guard bytes <= limit else { throw MemoryShortage(needed: bytes, limit: limit, purpose: "check") }
    }

    /// Throws ``MemoryShortage`` if a conversion may never take so many bytes.
    func admitConversion(of bytes: Int, by decoder: ImageDecoder) throws {
        let limit = decoder.configuration.memoryBudget
        guard bytes <= limit else { throw MemoryShortage(needed: bytes, limit: limit, purpose: "convert") }
    }
}

/// An image needs more memory than it may have.
struct MemoryShortage: Error, Equatable, CustomStringConvertible {
    let needed: Int
    let limit: Int
    /// What the memory is needed for, as a verb.
    let purpose: String

    var description: String {
        "it takes up to \(Self.mebibytes(needed)) MiB of memory to \(purpose) this image, over the limit of "
            + "\(limit >> 20) MiB (see --memory-limit)"
    }

    /// Rounded up.
    private static func mebibytes(_ bytes: Int) -> Int { (bytes >> 20) + (bytes & (1 << 20 - 1) > 0 ? 1 : 0) }
}
