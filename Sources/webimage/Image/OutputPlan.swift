import AsyncWebImage
import ImageCodecs
import ImageEncoders
import ImageProcessing

/// The output for an image, according to the options of the command.
struct OutputPlan: Sendable, Equatable {
    /// The processing modes from a download to a file.
    enum Mode: Sendable, Equatable {
        /// Written as downloaded; only the header is checked.
        case untouched
        /// Written as downloaded, after verification; decoded and encoded if the image does not have the given format.
        case verified(ImageFormat?)
        /// Decoded and encoded; `nil` selects JPEG for opaque images, PNG for others, and an animation's own format.
        case converted(ImageFormat?)
    }

    let mode: Mode
    /// The options for decoding; `resizing` changes them for each image.
    let options: DecodeOptions
    /// The rule for the size of each image; `nil` if the target of `options` is the size.
    let resizing: ResizeRule?
    /// The changes to each image of its size, in order.
    let transformations: [ImageTransformation]
    /// The quality of formats that have one; `nil` for the default of each format.
    let quality: Int?
    /// The maximum size of an encoded file in bytes; `nil` for no limit.
    let maximumBytes: Int?
    /// A Boolean value that indicates whether files of formats with a choice, such as WebP, are lossless.
    let isLossless: Bool
    /// A Boolean value that indicates whether JPEG files are progressive.
    let isProgressive: Bool
    /// A Boolean value that indicates whether all frames are written instead of only the first.
    let keepsAnimations: Bool
    /// A Boolean value that indicates whether JPEGs that are only scaled keep their gain maps.
    let keepsGainMap: Bool
    /// A Boolean value that indicates whether images with warnings are refused.
    let isStrict: Bool
    /// A Boolean value that indicates whether images that need no change are written as downloaded, after verification.
    let skipsReencoding: Bool

    /// A Boolean value that indicates whether the pixels of whole images are held until they are encoded.
    var holdsFullSize: Bool { (isConverted || dependsOnHeader) && options.target == .original }

    /// A Boolean value that indicates whether images can be written as downloaded.
    var mayKeep: Bool { !isConverted || dependsOnHeader }

    /// The format of encoded files; `nil` for JPEG for opaque images, PNG for others, and an animation's own format.
    private var format: ImageFormat? {
        switch mode {
        case .untouched: nil
        case .verified(let format), .converted(let format): format
        }
    }

    /// A Boolean value that indicates whether images are decoded and encoded.
    var isConverted: Bool {
        if case .converted = mode { true } else { false }
    }

    init(
        format: OutputFormat?, options: DecodeOptions, resizing: ResizeRule? = nil,
        transformations: [ImageTransformation] = [], quality: Int?,
        isLossless: Bool = false, isProgressive: Bool = false, takesFirstFrame: Bool = false, isStrict: Bool = false,
        skipsReencoding: Bool = false, keepsFormat: Bool = false, keepsGainMap: Bool = false,
        maximumBytes: Int? = nil
    ) {
        self.options = options
        self.resizing = resizing
        self.transformations = transformations
        var whole = options
        whole.allowsPartial = false
        whole.keepsProfile = false  // unchanged files keep their profile anyway
        self.quality = quality
        self.maximumBytes = maximumBytes
        self.keepsGainMap = keepsGainMap
        self.isLossless = isLossless
        self.isStrict = isStrict
        self.skipsReencoding = skipsReencoding
        self.isProgressive = isProgressive
        keepsAnimations = !takesFirstFrame && format != .jpeg && format != .npy
        let changesNothing =
            whole == DecodeOptions() && !takesFirstFrame && maximumBytes == nil && transformations.isEmpty
        mode =
            if format == .original {
                .untouched
            } else if changesNothing, keepsFormat || format == nil {
                .verified(format?.imageFormat)
            } else {
                .converted(format?.imageFormat)
            }
    }

    /// A Boolean value that indicates whether it depends on the header of an image whether it is written as downloaded.
    var dependsOnHeader: Bool {
        switch mode {
        case .untouched: false
        case .verified(let format): format != nil
        case .converted(let format): skipsReencoding && format != .npy
        }
    }

    /// Returns whether an image with `header` is written as downloaded, or may be as far as the header says: the
    /// orientation can follow the pixels.
    func keeps(_ header: ImageHeader) -> Bool {
        switch mode {
        case .untouched: return true
        case .verified(let format): return format == nil || header.format == format
        case .converted(let format):
            guard dependsOnHeader, transformations.isEmpty, header.format == format ?? usualFormat(for: header) else {
                return false
            }
            let isStill = keepsAnimations || !header.mayBeAnimated
            let keepsColors = options.keepsProfile || header.colorConversion == .unneeded
            return isStill && header.orientation == .up && keepsColors && header.colorChannels < 4
                && outputSize(for: header) == header.size
        }
    }

    /// Returns the format that an image with `header` gets if no format is given.
    private func usualFormat(for header: ImageHeader) -> ImageFormat {
        header.mayBeAnimated && keepsAnimations ? header.format : header.hasAlpha ? .png : .jpeg
    }

    /// Returns the size of the output for an image with `header`.
    private func outputSize(for header: ImageHeader) -> PixelSize {
        resizing?.canvas(for: header.size) ?? options(for: header).outputSize(for: header)
    }

    /// Returns whether `header` is that of a JPEG with a gain map that fits its output: the same part of the image, turned
    /// the same way.
    func keepsGainMap(_ header: ImageHeader) -> Bool {
        // In other formats, it is an image of that format.
        guard keepsGainMap, header.hasGainMap, header.format == .jpeg, header.orientation == .up,
            transformations.isEmpty
        else { return false }
        if case .fill = resizing?.target ?? options.target { return false }
        return resizing?.canvas(for: header.size) == nil
    }

    /// Throws an error if the file of an image with these warnings is refused.
    func check(_ warnings: Set<ImageWarning>) throws {
        guard isStrict, !warnings.isEmpty else { return }
        throw RefusedWarnings(warnings: warnings)
    }

    /// Returns the options for decoding an image with `header`.
    func options(for header: ImageHeader) -> DecodeOptions {
        var options = resizing?.applied(to: options, for: header.size) ?? options
        // Only still JPEG and PNG have a place for a grayscale profile.
        if header.isGray, !storesGray || keepsAnimations && header.mayBeAnimated { options.keepsProfile = false }
        return options
    }

    /// A Boolean value that indicates whether the output can be grayscale.
    private var storesGray: Bool {
        guard case .converted(let format?) = mode else { return true }
        return format == .jpeg || format == .png
    }

    /// Returns the plan for an image with `header` that is decoded and encoded.
    func plan(for header: ImageHeader) throws(CodecError) -> FilePlan {
        let margins = resizing?.canvas(for: header.size).map { ImageTransformation.pad(to: $0, color: .white) }
        var plan = FilePlan(
            options: options(for: header), transformations: (margins.map { [$0] } ?? []) + transformations,
            still: try encoding(format ?? .jpeg), transparent: format == nil ? try encoding(.png) : nil,
            animated: keepsAnimations && header.mayBeAnimated ? try encoding(format ?? header.format) : nil)
        plan.maximumBytes = maximumBytes ?? .max
        plan.keepsGainMap = keepsGainMap(header) && (format == nil || format == .jpeg)
        // It describes the stored colors.
        if plan.keepsGainMap { plan.options.keepsProfile = true }
        return plan
    }

    /// Returns the options for encoding a file of `format`.
    func encoding(_ format: ImageFormat) throws(CodecError) -> EncodeOptions {
        if format == .npy { return EncodeOptions(NPYEncoder()) }
        if let encoding = CommandFormats.encoding(of: format) { return encoding(quality, isLossless) }
        return isLossless && format == .webp
            ? .webp(WebPOptions(isLossless: true))
            : try EncodeOptions(format, quality: quality ?? 85, isProgressive: isProgressive)
    }
}

/// The error when an image is refused because of warnings.
struct RefusedWarnings: Error, Equatable, CustomStringConvertible {
    let warnings: Set<ImageWarning>

    var description: String {
        "refused by --strict: \(warnings.map(\.description).sorted().joined(separator: "; "))"
    }
}
