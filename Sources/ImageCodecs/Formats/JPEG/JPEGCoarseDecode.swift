/// A decode of a multi-scan JPEG at 1/8 of its size from few coefficients of each block: the DC coefficient and, of
/// channels that are sampled more coarsely than others, the lowest frequencies.
struct JPEGCoarseDecode {
    /// The coefficients of each channel: bit `n` stands for the one at index `n` of the zigzag order.
    let coefficients: [UInt64]
    /// A Boolean value that indicates whether scans that refine AC coefficients are needed.
    ///
    /// With them, a decode takes half as long again, and needs a bit of memory for each coefficient.
    var needsRefinements: Bool
    /// The memory for coefficients in bytes.
    let byteCount: Int

    /// Creates the decode of a file at this scale, or `nil` if all coefficients are needed.
    init?(of header: ImageHeader, at scale: JPEGScale) {
        guard header.hasSeveralScans, scale.eighths == 1 else { return nil }
        let columns = header.sampling.map(\.horizontal).max() ?? 1
        let rows = header.sampling.map(\.vertical).max() ?? 1
        // libjpeg makes several pixels of a block if that is enough to have as many pixels as other channels.
        func makesPixels(_ side: Int, of factors: SamplingFactors) -> Bool {
            columns % (factors.horizontal * side) == 0 && rows % (factors.vertical * side) == 0
        }
        // With 4 by 4 pixels, half of the frequencies are visible.
        guard !header.sampling.contains(where: { makesPixels(4, of: $0) }) else { return nil }
        needsRefinements = header.isProgressive && !header.hasManyCoefficients
        var coefficients: [UInt64] = []
        var byteCount = 0
        for (factors, blocks) in zip(header.sampling, header.blocks) {
            let isFiner = makesPixels(2, of: factors)
            coefficients.append(isFiner ? 0b1_0111 : 0b1)
            let blockBytes = isFiner ? (needsRefinements ? 16 : 8) : 2
            byteCount += blocks.area * blockBytes + blocks.width * factors.vertical * 128
        }
        (self.coefficients, self.byteCount) = (coefficients, byteCount)
    }
}

extension ImageHeader {
    /// A Boolean value that indicates whether an image is complete only after several scans, which must be kept until
    /// then.
    var hasSeveralScans: Bool { isProgressive || hasSeparateScans }

    /// The memory for all coefficients of a JPEG in bytes.
    var coefficientBytes: Int { blocks.reduce(0) { $0 + $1.area * 128 } }

    /// A Boolean value that indicates whether all coefficients of a JPEG take so much memory, and decoding them so much
    /// time, that small images are made with less detail: more than 48 MiB, or 16 megapixels at 4:2:0.
    var hasManyCoefficients: Bool { coefficientBytes > 48 << 20 }
}
