import ArgumentParser
import AsyncWebImage
import ImageCodecs

/// The options for the images that `webimage get` and `webimage batch` write.
struct ImageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Shrink to at most this width and height. Smaller images keep their size; SVG is rendered at this one.",
            valueName: "pixels"))
    var maxPixelSize: Int?

    @Option(
        help: ArgumentHelp(
            "Shrink to fit into a box of this size in pixels. Smaller images keep their size; SVG is rendered at that of "
                + "the box.", valueName: "WxH"))
    var fit: BoxSize?

    @Option(
        help: ArgumentHelp(
            "Shrink to fill a box of this size in pixels, and crop the overlap. Smaller images are cropped to the "
                + "aspect ratio of the box; SVG is rendered at its size.", valueName: "WxH"))
    var fill: BoxSize?

    @OptionGroup var resize: ResizeOptions

    @Option(
        help: ArgumentHelp(
            "The filter for shrinking images: lanczos3 is sharp, box is fast. (default: lanczos3)", valueName: "name"))
    var filter: Resampling.Filter?

    @Option(
        help: """
            The format to write; npy is the pixels of the first frame as a NumPy array of bytes: height x width x 3 (RGB), or \
            x 4 (RGBA) if there are transparent pixels. (default: see the description above)
            """)
    var format: OutputFormat?

    @Option(
        help: ArgumentHelp(
            "The quality of JPEG, WebP, AVIF, and JPEG XL, 1 to 100. (default: 85; AVIF: 60, which looks the same)",
            valueName: "number"))
    var quality: Int?

    @Option(
        help: ArgumentHelp(
            "The maximum size of a file. If a still JPEG, WebP, AVIF, or JPEG XL of the given quality is larger, it gets "
                + "the best quality that fits; an image that does not fit in any quality fails. K, M, and G stand for "
                + "KiB, MiB, and GiB.",
            valueName: "bytes"))
    var maxOutputBytes: ByteAmount?

    @Flag(help: "Write only the first frame of animations, as a still image.")
    var firstFrame = false

    @OptionGroup var changes: TransformationOptions

    @Flag(help: "Keep the stored colors and embed their profile, instead of converting them to sRGB.")
    var keepProfile = false

    @Flag(
        help: """
            Keep the gain map of an Ultra HDR JPEG that is only scaled, and its stored colors. Without the option, and \
            if the image is cropped, turned, or changed otherwise, the gain map is dropped.
            """)
    var keepGainMap = false

    @Flag(
        help: """
            Reject files that deviate from their format, even if no pixel is missing or doubtful. Without the option, the \
            deviations are warnings.
            """)
    var strict = false

    @Flag(
        help: """
            Write images that need no change as downloaded, after verification: those of the output format and size that are \
            upright, and whose colors are not converted. An image that fails the verification is encoded again, as without \
            the option.
            """)
    var skipReencode = false

    func validate() throws {
        if let remedy = format?.remedy { throw ValidationError("\(remedy).") }
        if skipReencode, format == .original || format == .npy {
            throw ValidationError(
                "--skip-reencode applies to converted images: \(format == .npy ? "npy" : "original") has none.")
        }
        if maxOutputBytes != nil, format == .original || format == .npy || skipReencode {
            let other = skipReencode ? "--skip-reencode" : "--format \(format?.rawValue ?? "")"
            throw ValidationError("--max-output-bytes applies to images that are encoded, not with \(other).")
        }
        if keepProfile, changes.grayscale || changes.overlay != nil || changes.background != nil {
            throw ValidationError(
                "--keep-profile cannot be combined with --grayscale, --overlay, or --background: their colors are sRGB."
            )
        }
        if keepGainMap, let format, format != .jpeg, format != .original {
            throw ValidationError("--keep-gain-map applies to JPEG, not to --format \(format.rawValue).")
        }
        if strict, format == .original {
            throw ValidationError("--format original does not check images; --strict has no effect.")
        }
        if format == .original, let option = conversions.first {
            throw ValidationError("--format original writes what was downloaded; \(option) cannot change it.")
        }
        let modes = resize.resizeMode == nil ? [] : ["--resize-mode"]
        guard (sizes + modes).count <= 1 else {
            throw ValidationError("\((sizes + modes).joined(separator: " and ")) cannot be combined.")
        }
        guard filter == nil || sizes.count == 1 || resize.rule != nil else {
            throw ValidationError(
                "--filter applies to shrinking: add --max-pixel-size, --fit, --fill, or --resize-mode.")
        }
        if let maxPixelSize, maxPixelSize < 1 { throw ValidationError("--max-pixel-size must be at least 1.") }
        if let quality, !(1...100).contains(quality) { throw ValidationError("--quality must be from 1 to 100.") }
        if quality != nil, let format, !format.hasQuality {
            throw ValidationError(
                "--quality applies to JPEG, WebP, AVIF, and JPEG XL, not to --format \(format.rawValue).")
        }
        if keepProfile, let format, format == .gif || format == .npy {
            throw ValidationError(
                "\(format.rawValue.uppercased()) files cannot contain profiles: "
                    + "--keep-profile applies to other formats.")
        }
    }

    /// The options for decoding.
    var decoding: DecodeOptions {
        let target: DecodeOptions.Target =
            if let maxPixelSize {
                .maximumSide(maxPixelSize)
            } else if let fit {
                .fit(fit.size)
            } else if let fill {
                .fill(fill.size)
            } else {
                resize.rule?.target ?? .original
            }
        return DecodeOptions(
            target: target, resampling: Resampling(filter: filter ?? .lanczos3), keepsProfile: keepProfile)
    }

    /// Throws an error if `--quality` or `--skip-reencode` is used although `plan` encodes nothing.
    func validateQuality(for plan: OutputPlan) throws {
        if quality != nil { try Self.validate("--quality", for: plan) }
        if skipReencode { try Self.validate("--skip-reencode", for: plan) }
    }

    /// Throws an error if `option`, which concerns encoding, is used although `plan` encodes nothing.
    static func validate(_ option: String, for plan: OutputPlan) throws {
        guard case .verified(nil) = plan.mode, !plan.options.allowsPartial else { return }
        throw ValidationError(
            "\(option) applies to converted images: add --format jpeg, --max-pixel-size, --fit, or --fill.")
    }

    /// The size options that were used.
    private var sizes: [String] {
        [
            maxPixelSize.map { _ in "--max-pixel-size" }, fit.map { _ in "--fit" }, fill.map { _ in "--fill" },
        ].compactMap(\.self)
    }

    /// The options that were used and change the pixels or the colors.
    private var conversions: [String] {
        let others = [
            filter.map { _ in "--filter" }, keepProfile ? "--keep-profile" : nil,
            keepGainMap ? "--keep-gain-map" : nil, firstFrame ? "--first-frame" : nil,
            changes.usedOption,
        ]
        return sizes + (resize.rule == nil ? [] : ["--resize-mode"]) + others.compactMap(\.self)
    }
}

extension OutputFormat: ExpressibleByArgument {}
