package import ImageCodecs
package import ImageEncoders
package import ImageProcessing

/// The rule for the file that a session makes of an image.
package protocol FileRule {
    /// The metadata to look for.
    var metadata: OutputRule.Metadata { get }
    /// Returns the plan for an image with `header`; throws an error to refuse the image.
    func plan(for header: ImageHeader) throws -> FilePlan
    /// Inspects the image that is encoded, or the first frame of an animation; throws an error to refuse it.
    func inspect(_ image: DecodedImage) throws
}

/// The plan for the file that a session makes of an image whose header is known.
package struct FilePlan: Sendable {
    /// The options for decoding.
    package var options: DecodeOptions
    /// The transformations of the decoded image.
    package var transformations: [ImageTransformation]
    /// The encoding of still images.
    package var still: EncodeOptions
    /// The encoding of still images with transparent pixels, if it is a different one.
    package var transparent: EncodeOptions?
    /// The encoding of animations; `nil` for the first frame as a still image.
    package var animated: EncodeOptions?
    /// The maximum size of the file in bytes, within which the quality is the highest possible.
    package var maximumBytes = Int.max
    /// A Boolean value that indicates whether the gain map of the image is kept.
    package var keepsGainMap = false
    /// The memory that ``FileRule/inspect(_:)`` takes for each pixel, in bytes.
    package var inspectionBytesPerPixel = 0

    package init(
        options: DecodeOptions, transformations: [ImageTransformation], still: EncodeOptions,
        transparent: EncodeOptions?, animated: EncodeOptions?
    ) {
        self.options = options
        self.transformations = transformations
        self.still = still
        self.transparent = transparent
        self.animated = animated
    }

    /// Returns the encoding of a still image.
    func encoding(of pixels: PixelBuffer) -> EncodeOptions {
        if let transparent, !pixels.isOpaque { transparent } else { still }
    }

    /// Returns the maximum memory for inspecting and encoding an image of `size`, in bytes.
    func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int {
        let working = max(
            still.encoder.workingBytes(for: size, hasAlpha: hasAlpha && transparent == nil),
            hasAlpha ? transparent?.encoder.workingBytes(for: size, hasAlpha: true) ?? 0 : 0)
        // Encoders take 8 bits per channel, or hold pixels of 16 bits in twice the memory.
        let copy = options.pixelFormat == .rgba16 ? 4 : 0
        return working.saturatingSum(size.area * (copy + inspectionBytesPerPixel))
    }
}

/// A file that has been made of an image.
package struct MadeFile: Sendable {
    package let bytes: [UInt8]
    package let format: ImageFormat
    /// The size of the image, or of the frames, in pixels.
    package let size: PixelSize
    /// The header of the original, with the warnings of all that has been decoded.
    package let header: ImageHeader
    /// A Boolean value that indicates whether part of the image is missing.
    package let isPartial: Bool
    /// A Boolean value that indicates whether the file has the gain map of the original.
    package var hasGainMap = false
}

/// The error when the encoded frames of an animation take more memory than there is.
package struct OutputTooLarge: Error {
    package let cause: CodecError
    /// The maximum memory of one decode, in bytes.
    package let memoryLimit: Int
}

extension ImageDecoder {
    /// Returns the file that is made of `input`, on the threads of the caller.
    ///
    /// Starts over whenever `input` does, which its source limits. Throws ``CodecError``, ``OutputTooLarge``, and the
    /// errors of `input` and `rule`.
    package nonisolated func file(
        of input: some DecodeInput, _ options: DecodeOptions, by rule: any FileRule
    ) async throws -> MadeFile {
        let session = DecodeSession(
            reader: input, decoder: self, options: options, policy: PreviewPolicy(selection: .none),
            frames: FrameHub(), movesLongWork: false)
        do {
            return try await session.fromFirstByte { try await $0.makeFile(rule) }
        } catch let failure as DecodeFailure {
            throw failure.cause
        }
    }
}

extension FileIdentity: FileRule {
    /// The options for decoding: the pixels have the format that encoders take.
    var decodeOptions: DecodeOptions {
        var options = recipe.options
        if options.pixelFormat != .rgba16 { options.pixelFormat = .rgba8 }
        // Transformations can add colors, which are sRGB.
        options.keepsProfile = rule.metadata.contains(.colorProfile) && recipe.transformations.isEmpty
        return options
    }

    var metadata: OutputRule.Metadata { rule.metadata }

    func plan(for header: ImageHeader) -> FilePlan {
        var options = decodeOptions
        // WebP and animations cannot contain the profile of a gray image.
        let storesGray = rule.animated == nil && rule.opaque.format != .webp && rule.transparent.format != .webp
        if header.isGray, !storesGray { options.keepsProfile = false }
        return FilePlan(
            options: options, transformations: recipe.transformations, still: rule.opaque,
            transparent: rule.transparent == rule.opaque ? nil : rule.transparent, animated: rule.animated)
    }

    func inspect(_ image: DecodedImage) {}
}
