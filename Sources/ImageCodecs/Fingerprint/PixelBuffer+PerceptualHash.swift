extension PixelBuffer {
    /// Returns a perceptual hash of the image (pHash): images that look alike have hashes that differ in few bits.
    ///
    /// Compatible with `phash` of the Python package `imagehash`: the image is converted to gray and scaled to 32 × 32
    /// pixels, and each bit tells whether one of the 8 × 8 lowest frequencies exceeds their median, from the most
    /// significant bit. A few bits can differ, because scaling rounds differently. Transparent parts count as white. The
    /// hash of an empty image is 0. Takes one byte of memory per pixel of the image.
    public func perceptualHash() -> UInt64 {
        guard size.area > 0 else { return 0 }
        // Gray first: overshoot of the filter is clamped differently in the colors.
        let small = converted(to: .gray8).turned(.up, scaledTo: PixelSize(width: 32, height: 32))
        let transform = CosineTransform(small.bytes.map { Double($0) }, size: small.size, columns: 8, rows: 8)
        let frequencies = (0..<64).map { transform[$0 % 8, $0 / 8] }
        let sorted = frequencies.sorted()
        let median = (sorted[31] + sorted[32]) / 2
        return frequencies.reduce(0) { $0 << 1 | ($1 > median ? 1 : 0) }
    }
}
