/// Verifies an animation of a ``CustomFormat`` by decoding each of its frames, whose rows are discarded.
final class CustomAnimationVerifier: FileVerifier {
    private let format: CustomFormatDescriptor
    private let limits: DecodeLimits
    private var parser: CustomAnimationParser
    private var frames: (any FrameDecoder)?
    private var verifiedFrames = 0
    /// The check of the first frame, which is the whole image if the file turns out to be a still image.
    private var still: RowVerifier?
    private var hasBegun = false

    init(_ header: ImageHeader, _ format: CustomFormatDescriptor, limits: DecodeLimits) {
        self.format = format
        self.limits = limits
        parser = CustomAnimationParser(
            AnimationIndex(header: header, format: format, limits: limits), beginning: [UInt8]().span)
    }

    func append(_ bytes: Span<UInt8>) throws(CodecError) {
        if !hasBegun {
            hasBegun = true
            if format.needsWholeFile { parser = CustomAnimationParser(parser.index, beginning: bytes) }
            still = try verifier(parser.index.header)
        }
        try still?.append(bytes)
        try parser.consume(bytes)
        _ = parser.forget(of: bytes.count)
        for index in verifiedFrames..<parser.index.frames.count {
            try verify(index)
            parser.index.releaseData(ofFrame: index)
        }
        verifiedFrames = parser.index.frames.count
        if verifiedFrames > 0 { still = nil }
    }

    func finish(_ header: inout ImageHeader) throws(CodecError) {
        try still?.finish(&header)
        try parser.finish(at: 0)
        header.frameCount = max(verifiedFrames, 1)
    }

    private func verify(_ index: Int) throws(CodecError) {
        let animation = parser.index
        if frames == nil { frames = try format.frameDecoder(for: animation) }
        let header = animation.stillHeader(animation.frames[index])
        if let frames { return try frames.decodeFrame(at: index, to: RowCounter()) }
        let file = animation.still(animation.frames[index])
        let verifier = try verifier(header)
        try verifier.append(file.span)
        var ignored = header
        try verifier.finish(&ignored)
    }

    private func verifier(_ header: ImageHeader) throws(CodecError) -> RowVerifier {
        RowVerifier(
            try format.rowDecoder(for: header, rowSize: header.size, limits: limits, toleratesDamage: false),
            rowCount: header.size.height)
    }
}
