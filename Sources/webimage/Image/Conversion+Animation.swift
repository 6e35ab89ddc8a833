import AsyncWebImage
import ImageCodecs
import ImageEncoders
import ImageProcessing

// Animations, whose frames are all written.
extension Conversion {
    /// The share of the memory for one conversion that the compressed frames of one animation may use, as a divisor.
    private static let shareOfFile = 4

    /// The error when the encoded frames exceed the limit for the output.
    private struct OutputTooLarge: Error {}

    /// Returns the converted animation, whose file consists of `beginning` and `pieces`.
    func animation(
        _ header: ImageHeader, _ decode: DecodePlan, _ beginning: [UInt8], _ pieces: any ImagePieces,
        _ facts: inout ImageFacts
    ) async throws -> EncodedImage {
        var limits = decoder.configuration.limits
        limits.maximumBytes = min(limits.maximumBytes, memory.conversion / Self.shareOfFile)
        // A canvas and a frame, and the data that the encoder keeps of the last frame.
        let canvas = plan.resizing?.canvas(for: header.size) ?? decode.outputSize
        let size = try transformedSize(canvas)
        let encoder = try plan.encoding(format ?? header.format).encoder
        let encoding = encoder.animationBytes(for: size)
        let frame = (decode.estimatedBytes + 10 * decode.storedSize.area + encoding + hashBytes(size))
            .saturatingSum(transformationBytes(canvas))
        try memory.admitConversion(of: frame.saturatingSum(min(limits.maximumBytes, pieces.expectedCount ?? 0)))
        // The file may be read twice.
        let file = try await onDisk(pieces)
        let start = try file.position()
        if let count = file.expectedCount {
            limits.maximumBytes = min(limits.maximumBytes, beginning.count + max(0, count - start))
        }
        let most = min(
            memory.conversion, decoder.configuration.maximumDecodeBytes ?? decoder.configuration.memoryBudget)
        let needs = AnimationMemory(
            frame: frame, file: limits.maximumBytes, limit: most, tellsSize: encoder.limitsAnimations)
        try memory.admitConversion(of: needs.base)
        for outputLimit in needs.outputLimits {
            try file.move(to: start)
            do {
                return try await decoder.withMemory(needs.bytes(forOutput: outputLimit)) {
                    let animation = try await collected(beginning, file, plan.options(for: header), limits)
                    return try encoded(animation, outputLimit, &facts)
                }
            } catch is OutputTooLarge {}
        }
        throw MemoryShortage(needed: nil, limit: most, purpose: "convert")
    }

    private func collected(
        _ beginning: [UInt8], _ pieces: any ImagePieces, _ options: DecodeOptions, _ limits: DecodeLimits
    ) async throws -> AnimatedImage {
        var animation = StreamingAnimation(
            options: options, limits: limits, customFormats: CommandFormats.custom)
        do {
            try animation.append(beginning.span)
            while !animation.needsNoMoreBytes, let piece = try await pieces.next() {
                try animation.append(piece.span)
            }
        } catch let error as ImageError {
            guard plan.options.allowsPartial, let image = try? animation.finish() else { throw error }
            return image
        }
        return try animation.finish()
    }

    /// Throws ``OutputTooLarge`` as soon as the frames take more than `outputLimit` bytes.
    private func encoded(
        _ animation: AnimatedImage, _ outputLimit: Int, _ facts: inout ImageFacts
    ) throws -> EncodedImage {
        facts.describe(animation)
        try plan.check(animation.header.warnings)
        let canvas = plan.resizing?.canvas(for: animation.header.size) ?? animation.size
        let size = try transformedSize(canvas)
        facts.size = size
        // Frames of few pixels may have been admitted that are now enlarged.
        let (pixelCount, isTooLarge) = size.area.multipliedReportingOverflow(by: animation.frameCount)
        try self.decoder.configuration.limits.checkWork(onFramePixels: isTooLarge ? .max : pixelCount)
        let decoder = AnimationDecoder(animation, windowBytes: 0)
        guard animation.frameCount > 1 else {
            let pixels = try transformed(decoder.frame(at: 0), on: canvas)
            facts.size = pixels.size
            describe(pixels, &facts)
            return try encoded(pixels, profile: animation.iccProfile)
        }
        for change in plan.transformations where change.dependsOnPixels {
            throw CodecError.transformationFailed(
                change.identifier, "it would show another part of each frame of the animation")
        }
        let format = format ?? animation.header.format
        let encoder = try AnimationEncoder(
            options: try plan.encoding(format), size: size, repetitionCount: animation.repetitionCount,
            metadata: ImageMetadata(colorProfile: animation.iccProfile),
            maximumBytes: min(outputLimit, plan.maximumBytes ?? .max))
        do {
            for index in 0..<animation.frameCount {
                try Task.checkCancellation()
                let pixels = try transformed(decoder.frame(at: index), on: canvas)
                if index == 0 { describe(pixels, &facts) }
                try encoder.append(pixels, delay: animation.delay(at: index))
            }
            if !decoder.partialFrames.isEmpty { facts.isPartial = true }
            facts.warnings?.formUnion(decoder.warnings)
            try plan.check(decoder.warnings)
            return EncodedImage(bytes: try encoder.finish(), format: format)
        } catch is CodecError where encoder.byteCount > outputLimit {
            throw OutputTooLarge()
        }
    }

    private func transformed(_ frame: PixelBuffer, on canvas: PixelSize) throws -> PixelBuffer {
        try frame.padded(to: canvas).applying(plan.transformations, limits: decoder.configuration.limits)
    }
}
