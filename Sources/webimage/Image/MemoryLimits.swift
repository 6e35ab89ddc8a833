import AsyncWebImage

/// The memory limits for verifying and converting images.
struct MemoryLimits: Sendable, Equatable {
    /// The maximum number of bytes that work may hold while it waits for a server; larger work begins when its file
    /// is complete.
    static let small = 4 << 20
    /// The maximum number of bytes of an image held while its header is not known; beyond that, only one piece is
    /// held, and the header is searched for in the file.
    static let beginning = 1 << 20

    /// The most memory for verifying or converting one image by default, in bytes.
    ///
    /// A photo of 50 megapixels in any format can be converted to JPEG at its full size; lossless WebP needs the most
    /// memory for that, 749 MiB.
    static let maximumImage = 768 << 20
    /// The maximum memory for verifying or converting one image, in bytes.
    ///
    /// An image that needs more than is allowed for all of them is processed while no other is.
    var image = min(maximumImage, ImageDecoder.Configuration.defaultMemoryBudget)
    /// The maximum memory for all images that are verified and written unchanged, in bytes.
    var allChecks = 160 << 20
    /// The maximum memory for all images that are decoded and converted, in bytes.
    var allConversions = 192 << 20

    /// Creates the default limits or, for `--memory-limit`, the given number of bytes per image.
    init(bytes: Int? = nil) {
        guard let bytes else { return }
        image = bytes
        allChecks = max(bytes, allChecks)
        allConversions = max(bytes, allConversions)
    }

    /// Throws ``MemoryShortage`` if the work on one image, such as "convert", may never use this many bytes.
    func admit(_ bytes: Int, to purpose: String) throws {
        guard bytes <= image else { throw MemoryShortage(needed: bytes, limit: image, purpose: purpose) }
    }
}

/// The error when an image needs more memory than allowed.
struct MemoryShortage: Error, Equatable, CustomStringConvertible {
    /// The number of bytes needed; `nil` if only the encoded frames of an animation show that they are too many.
    let needed: Int?
    let limit: Int
    /// The purpose of the memory, as a verb.
    let purpose: String

    var description: String {
        let overLimit = "over the limit of \(limit >> 20) MiB"
        guard let needed else {
            return "the frames of this animation take too much memory to \(purpose) them, \(overLimit); smaller frames "
                + "or lossy WebP take less"
        }
        return "it takes up to \(Self.mebibytes(needed)) MiB of memory to \(purpose) this image, \(overLimit)"
    }

    /// Returns the number of MiB, rounded up.
    private static func mebibytes(_ bytes: Int) -> Int { (bytes >> 20) + (bytes & (1 << 20 - 1) > 0 ? 1 : 0) }
}
