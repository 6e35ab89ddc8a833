import ArgumentParser
import AsyncWebImage

/// The options for the images of `webimage batch`.
struct BatchImageOptions: ParsableArguments {
    @Option(help: "Shrink to at most this width and height, in pixels. Smaller images keep their size.")
    var maxPixelSize: Int?

    @Option(
        help: ArgumentHelp(
            "Shrink to fit into a box of this size in pixels. Smaller images keep their size.", valueName: "WxH"))
    var fit: BoxSize?

    @Option(
        help: ArgumentHelp(
            "Shrink to fill a box of this size in pixels, and crop the overlap. Smaller images are cropped to the "
                + "aspect ratio of the box.", valueName: "WxH"))
    var fill: BoxSize?

    @Option(
        help: ArgumentHelp("The filter for shrinking images: lanczos3 is sharp, box is fast.", valueName: "name"))
    var filter: Resampling.Filter?

    @Option(
        help: """
            The format to write. (default: jpeg with a size option; jpeg, or png for transparent images, with --first-frame; \
            otherwise as downloaded)
            """)
    var format: OutputFormat?

    @Option(help: "The quality of JPEG and WebP, 1 to 100. (default: 85)")
    var quality: Int?

    @Flag(help: "Write only the first frame of animations, as a still image.")
    var firstFrame = false

    @Flag(help: "Keep the stored colors and embed their profile, instead of converting them to sRGB.")
    var keepProfile = false

    func validate() throws {
        let sizes = [
            maxPixelSize.map { _ in "--max-pixel-size" }, fit.map { _ in "--fit" }, fill.map { _ in "--fill" },
        ].compactMap(\.self)
        guard sizes.count <= 1 else { throw ValidationError("\(sizes.joined(separator: " and ")) cannot be combined.") }
        guard filter == nil || sizes.count == 1 else {
            throw ValidationError("--filter applies to shrinking: add --max-pixel-size, --fit, or --fill.")
        }
        if let maxPixelSize, maxPixelSize < 1 { throw ValidationError("--max-pixel-size must be at least 1.") }
        if let quality, !(1...100).contains(quality) { throw ValidationError("--quality must be from 1 to 100.") }
        if format == .original, sizes.count + (filter == nil ? 0 : 1) > 0 || firstFrame || keepProfile {
            throw ValidationError("--format original writes what was downloaded; other image options cannot change it.")
        }
        if quality != nil, plan.mode == .verified || plan.mode == .untouched {
            throw ValidationError("--quality applies to converted images: add --format jpeg, or a size option.")
        }
    }

    /// The plan for the output of each image.
    var plan: OutputPlan {
        let target: DecodeOptions.Target =
            if let maxPixelSize {
                .maximumSide(maxPixelSize)
            } else if let fit {
                .fit(fit.size)
            } else if let fill {
                .fill(fill.size)
            } else {
                .original
            }
        return OutputPlan(
            format: format ?? (target == .original ? nil : .jpeg),
            options: DecodeOptions(
                target: target, resampling: Resampling(filter: filter ?? .lanczos3), keepsProfile: keepProfile),
            quality: quality ?? 85, takesFirstFrame: firstFrame)
    }
}
