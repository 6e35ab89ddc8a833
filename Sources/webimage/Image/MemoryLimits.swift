import AsyncWebImage

/// The memory limits of `webimage get`.
struct MemoryLimits: Sendable, Equatable {
    /// The maximum number of bytes that work may hold while it waits for a server; larger work begins when its file
    /// is complete.
    static let small = 4 << 20
    /// The maximum number of bytes of an image held while its header is not known; beyond that, only one piece is
    /// held, and the header is searched for in the file.
    static let beginning = 1 << 20

    /// The maximum memory for verifying one image, in bytes.
    var check = 112 << 20
    /// The maximum memory for all images that are verified and written unchanged, in bytes.
    var allChecks = 160 << 20
    /// The most memory for converting one image by default, in bytes.
    ///
    /// A photo of 50 megapixels in any format can be converted to JPEG at its full size; lossless WebP needs the most
    /// memory for that, 749 MiB.
    static let maximumConversion = 768 << 20
    /// The maximum memory for converting one image, in bytes.
    ///
    /// An image that needs more than ``allConversions`` is converted while no other is.
    var conversion = min(maximumConversion, ImageDecoder.Configuration.defaultMemoryBudget)
    /// The maximum memory for all images that are decoded and converted, in bytes.
    var allConversions = 192 << 20

    /// Creates the default limits or, for `--memory-limit`, the given number of bytes per image for either use.
    init(bytes: Int? = nil) {
        guard let bytes else { return }
        check = bytes
        allChecks = max(bytes, allChecks)
        conversion = bytes
        allConversions = max(bytes, allConversions)
    }

    /// Throws ``MemoryShortage`` if verification may never use this many bytes.
    func admitCheck(of bytes: Int, by decoder: ImageDecoder) throws {
        let limit = min(check, decoder.configuration.memoryBudget)
        guard bytes <= limit else { throw MemoryShortage(needed: bytes, limit: limit, purpose: "check") }
    }

    /// Throws ``MemoryShortage`` if a conversion may never use this many bytes.
    func admitConversion(of bytes: Int) throws {
        guard bytes <= conversion else { throw MemoryShortage(needed: bytes, limit: conversion, purpose: "convert") }
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
