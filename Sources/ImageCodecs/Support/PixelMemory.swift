/// The source of the memory of images, which reuses that of earlier images.
package protocol PixelMemory: Sendable {
    /// Returns an empty array with at least this capacity, in bytes.
    func take(capacity: Int) -> [UInt8]

    /// Adds the pixels of an image, whose memory can be reused when nothing else uses it anymore.
    func keep(_ bytes: [UInt8])
}
