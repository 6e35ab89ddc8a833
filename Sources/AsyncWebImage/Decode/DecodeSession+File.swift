import ImageCodecs
import ImageEncoders
import Threading

#if Tracing
import Tracing
#endif

// Files that are made of images: decoded and encoded within one grant of memory.
extension DecodeSession {
    /// Returns the image, encoded according to the rule.
    @concurrent func runFile(_ rule: OutputRule) async throws -> EncodedFile {
        try await withTaskExecutorPreference(decoder.threads) {
            try await fromFirstByte { try await $0.makeFile(rule) }
        }
    }

    private func makeFile(_ rule: OutputRule) async throws -> EncodedFile {
        var session = self
        session.exif = rule.metadata.contains(.exif) ? ExifCollector() : nil
        let codec = decoder.codec(options)
        var beginning: [[UInt8]] = []
        let plan = try await session.readHeader(codec) { if rule.animated != nil { beginning.append($0) } }
        if codec.header?.isGray == true, options.keepsProfile, !rule.storesGrayProfiles {
            session.options.keepsProfile = false
            try codec.replaceOptions(session.options)
        }
        if let animated = rule.animated, codec.header?.mayBeAnimated == true {
            let animation = try await session.readAnimation(codec, codec.plan, beginning)
            let encoding = session
            return try await withTaskExecutorPreference(decoder.threads.forLongWork()) {
                try await encoding.encode(animation, rule, animated)
            }
        }
        beginning = []
        guard let header = codec.header, let plan else { return try session.encode(transformed(codec.finish()), rule) }
        let size = try transformedSize(codec.plan ?? plan)
        let hasAlpha = header.hasAlpha || options.allowsPartial || !transformations.isEmpty
        let working = max(
            rule.opaque.encoder.workingBytes(for: size, hasAlpha: false),
            hasAlpha ? rule.transparent.encoder.workingBytes(for: size, hasAlpha: true) : 0)
        // Encoders take 8 bits per channel, or hold pixels of 16 bits in twice the memory.
        let copy = options.pixelFormat == .rgba16 ? working.saturatingSum(size.area * 4) : 0
        let encoding = session
        return try await session.decodeImage(codec, plan: codec.plan, extraBytes: working.saturatingSum(copy)) {
            try encoding.encode($0, rule)
        }
    }

    private func encode(_ image: DecodedImage, _ rule: OutputRule) throws -> EncodedFile {
        #if Tracing
        let span = DecodeSpan.current?.startPart("encode")
        defer { span?.end() }
        #endif
        let options = image.pixels.isOpaque ? rule.opaque : rule.transparent
        let bytes = try image.pixels.encoded(
            with: options, metadata: metadata(rule, for: options, profile: image.iccProfile))
        return EncodedFile(bytes, options.format, image.pixels.size, of: image.header, isPartial: image.isPartial)
    }

    /// Encodes an animation within memory for its frames and its file.
    ///
    /// Most files are not much larger than the original, so less memory is tried first.
    private func encode(
        _ animation: AnimatedImage, _ rule: OutputRule, _ options: EncodeOptions
    ) async throws -> EncodedFile {
        let size = animation.size
        let (pixelCount, isTooLarge) = size.area.multipliedReportingOverflow(by: animation.frameCount)
        try decoder.configuration.limits.checkWork(onFramePixels: isTooLarge ? .max : pixelCount)
        let limit = decoder.configuration.maximumDecodeBytes ?? decoder.configuration.memoryBudget
        // A frame, and the data that the encoder keeps of the last one. The original is held by the body.
        let needs = AnimationMemory(
            frame: min(animation.estimatedBytes.saturatingSum(40 * size.area), limit), file: 0,
            limit: limit, tellsSize: options.encoder.limitsAnimations)
        var failure: any Error = CodecError.overLimit(.memory, value: needs.base, limit: limit)
        for outputLimit in needs.outputLimits {
            do {
                return try await decoder.withMemory(needs.bytes(forOutput: outputLimit)) {
                    try encode(animation, rule, options, outputLimit)
                }
            } catch let error as OutputTooLarge {
                failure = error.cause
            }
        }
        throw failure
    }

    /// The error when an encoded animation exceeds a limit.
    private struct OutputTooLarge: Error {
        let cause: CodecError
    }

    private func encode(
        _ animation: AnimatedImage, _ rule: OutputRule, _ options: EncodeOptions, _ limit: Int
    ) throws -> EncodedFile {
        #if Tracing
        let span = DecodeSpan.current?.startPart("encode")
        defer { span?.end() }
        #endif
        let frames = AnimationDecoder(animation, windowBytes: 0)
        guard animation.frameCount > 1 else {
            let pixels = try frames.frame(at: 0)
            let options = pixels.isOpaque ? rule.opaque : rule.transparent
            let bytes = try pixels.encoded(
                with: options, metadata: metadata(rule, for: options, profile: animation.iccProfile))
            return EncodedFile(
                bytes, options.format, pixels.size, of: animation.header, isPartial: animation.isPartial)
        }
        let encoder = try AnimationEncoder(
            options: options, size: animation.size, repetitionCount: animation.repetitionCount,
            metadata: metadata(rule, for: options, profile: animation.iccProfile), maximumBytes: limit)
        do {
            for index in 0..<animation.frameCount {
                try Task.checkCancellation()
                try encoder.append(try frames.frame(at: index), delay: animation.delay(at: index))
            }
            return EncodedFile(
                try encoder.finish(), options.format, animation.size, of: animation.header,
                isPartial: animation.isPartial || !frames.partialFrames.isEmpty)
        } catch let error as CodecError where encoder.byteCount > limit {
            throw OutputTooLarge(cause: error)
        }
    }

    private func metadata(_ rule: OutputRule, for options: EncodeOptions, profile: [UInt8]?) -> ImageMetadata {
        var metadata = ImageMetadata(colorProfile: profile, exif: exif?.exif)
        // A segment of JPEG holds no more.
        if options.format == .jpeg, let exif = metadata.exif, exif.count > 65_527 { metadata.exif = nil }
        metadata.resetOrientation()
        return metadata
    }
}

extension FileIdentity {
    /// The options for decoding: the pixels have the format that encoders take.
    var decodeOptions: DecodeOptions {
        var options = recipe.options
        if options.pixelFormat != .rgba16 { options.pixelFormat = .rgba8 }
        // Transformations can add colors, which are sRGB.
        options.keepsProfile = rule.metadata.contains(.colorProfile) && recipe.transformations.isEmpty
        return options
    }
}

extension OutputRule {
    /// A Boolean value that indicates whether files can contain the profile of a gray image: WebP and animations cannot.
    fileprivate var storesGrayProfiles: Bool {
        animated == nil && opaque.format != .webp && transparent.format != .webp
    }
}

/// The Exif data of a file that a session reads.
final class ExifCollector: Sendable {
    private let scanner = Locked(ExifScanner())

    func append(_ piece: [UInt8]) { scanner.withLock { $0.append(piece.span) } }

    var exif: [UInt8]? { scanner.withLock(\.exif) }
}
