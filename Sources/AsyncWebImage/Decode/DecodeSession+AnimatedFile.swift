import ImageCodecs
import ImageEncoders

#if Tracing
import Tracing
#endif

// Files that are made of animations.
extension DecodeSession {
    /// Encodes an animation within memory for its frames and its file.
    ///
    /// Most files are not much larger than the original, so less memory is tried first. If `original` is `nil`, because
    /// its bytes would count nowhere, it is stored, and read in each attempt.
    func makeAnimation(
        _ original: AnimatedImage?, _ header: ImageHeader, _ decode: DecodePlan, _ plan: FilePlan,
        _ options: EncodeOptions, _ rule: any FileRule
    ) async throws -> MadeFile {
        let limit = min(
            reader.storage?.memoryLimit ?? .max,
            decoder.configuration.maximumDecodeBytes ?? decoder.configuration.memoryBudget)
        let frame = try frameBytes(original, header, decode, plan, options.encoder)
        var file = 0
        if let storage = reader.storage {
            try storage.admit(frame)
            file = try await storage.store(upTo: max(0, limit - frame))
            try storage.admit(frame.saturatingSum(file))
        }
        let needs = AnimationMemory(
            frame: frame, file: file, limit: limit, tellsSize: options.encoder.limitsAnimations)
        return try await onThread(forLongWork: true) {
            var failure: any Error = CodecError.overLimit(.memory, value: needs.base, limit: limit)
            for outputLimit in needs.outputLimits {
                do {
                    return try await decoder.withMemory(needs.bytes(forOutput: outputLimit)) {
                        let animation = if let original { original } else { try await readStoredAnimation(decode) }
                        return try encode(animation, plan, options, rule, outputLimit, limit)
                    }
                } catch let error as OutputTooLarge {
                    failure = error
                }
            }
            throw failure
        }
    }

    private func readStoredAnimation(_ decode: DecodePlan) async throws -> AnimatedImage {
        try reader.storage?.rewind()
        metadata?.reset()
        return try await readAnimation(decode, [], isGranted: true)
    }

    /// Returns the memory for the work on one frame, in bytes: decoding it, and the data that the encoder keeps of the
    /// last one.
    private func frameBytes(
        _ original: AnimatedImage?, _ header: ImageHeader, _ decode: DecodePlan, _ plan: FilePlan,
        _ encoder: any ImageEncoder
    ) throws -> Int {
        let size = try transformedSize(decode)
        guard let original else {
            // A canvas and a frame.
            return (decode.estimatedBytes + 10 * decode.storedSize.area + plan.inspectionBytesPerPixel * size.area)
                .saturatingSum(encoder.animationBytes(for: size)).saturatingSum(try transformationBytes(decode))
        }
        guard original.frameCount > 1 else { return try encodingBytes(plan, header, decode) }
        return original.estimatedBytes.saturatingSum(encoder.animationBytes(for: original.size))
    }

    /// Throws ``OutputTooLarge`` as soon as the frames take more than `outputLimit` bytes.
    private func encode(
        _ animation: AnimatedImage, _ plan: FilePlan, _ options: EncodeOptions, _ rule: any FileRule,
        _ outputLimit: Int, _ memoryLimit: Int
    ) throws -> MadeFile {
        // Frames of few pixels may have been admitted that are now enlarged.
        let (pixelCount, isTooLarge) = animation.size.area.multipliedReportingOverflow(by: animation.frameCount)
        try decoder.configuration.limits.checkWork(onFramePixels: isTooLarge ? .max : pixelCount)
        let frames = AnimationDecoder(animation, windowBytes: 0)
        func image(_ frame: PixelBuffer) -> DecodedImage {
            DecodedImage(
                pixels: frame, header: animation.header, originalSize: animation.originalSize,
                isPartial: animation.isPartial, iccProfile: animation.iccProfile)
        }
        guard animation.frameCount > 1 else { return try encode(image(frames.frame(at: 0)), plan, rule) }
        #if Tracing
        let span = DecodeSpan.current?.startPart("encode")
        defer { span?.end() }
        #endif
        let encoder = try AnimationEncoder(
            options: options, size: animation.size, repetitionCount: animation.repetitionCount,
            metadata: fileMetadata(for: options, profile: animation.iccProfile),
            maximumBytes: min(outputLimit, plan.maximumBytes))
        do {
            for index in 0..<animation.frameCount {
                try Task.checkCancellation()
                let frame = try frames.frame(at: index)
                if index == 0 { try rule.inspect(image(frame)) }
                try encoder.append(frame, delay: animation.delay(at: index))
            }
            var header = animation.header
            header.warnings.formUnion(frames.warnings)
            return MadeFile(
                bytes: try encoder.finish(), format: options.format, size: animation.size, header: header,
                isPartial: animation.isPartial || !frames.partialFrames.isEmpty)
        } catch let error as CodecError where encoder.byteCount > outputLimit {
            throw OutputTooLarge(cause: error, memoryLimit: memoryLimit)
        }
    }
}
