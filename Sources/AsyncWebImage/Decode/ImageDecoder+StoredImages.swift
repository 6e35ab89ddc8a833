import ImageCodecs
import ResponseCache

extension ImageDecoder {
    /// Returns an image that is stored decoded; `nil` if it is damaged, or cannot be read.
    ///
    /// Throws `overLimit` if it needs more memory than the decoder may use.
    nonisolated func image(_ stored: StoredImage) async throws -> DecodedImage? {
        let count = stored.byteCount
        return try await withMemory(ImageUnpacker.memory(forCount: count)) {
            await stored.read { next in
                var unpacker = ImageUnpacker(count: count)
                while let piece = try next() { unpacker.append(piece) }
                return unpacker.finish()
            }
        }
    }
}

extension StoredImageSource {
    /// Stores a decoded image, if it can be packed; on the cache's threads.
    func store(_ image: DecodedImage, as variant: String) {
        guard PackedImage.canPack(image) else { return }
        store(variant, byteCount: 2 * image.pixels.bytes.count) { PackedImage.bytes(of: image) }
    }
}
