import ArgumentParser
import AsyncWebImage

/// `webimage get`.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Download images, check them, and write them to files.",
        discussion: """
            Without --format and size an image is written as downloaded, byte for byte, after it has been checked: all \
            scans of a JPEG, all passes of a PNG, all frames of an animation are decoded to the end marker of the file, \
            and the checksums of PNG are compared. It is not checked whether the colors are right, \
            what metadata say, nor what follows the end marker. With a size the file is a JPEG, or a PNG if the image has \
            transparent parts, and an animation stays one, in its own format. --format original checks no more than the \
            header, which turns away what is not an image; what is damaged or cut off behind it is written as it is.

            What is no image is turned away with its first bytes. An image that takes more memory to check than \
            --memory-limit allows is a failure. A disk that is full ends the run.

            A file is named after the end of its URL, with the extension of its true format. It appears whole or not \
            at all, and no existing file is ever overwritten: the second photo.jpg becomes photo-2.jpg, also when the \
            first is from an earlier run.

            What is written anew has the colours of sRGB, whatever the profile of the original. With --keep-profile the \
            numbers stay as they are and the profile is written along.

            With --allow-partial an image that ends too early or is damaged is written as far as it goes, as with --format, \
            an animation with the frames that are complete; without the option, and if nothing can be decoded, it is a failure. What was cut off on its way is asked for once more, \
            unless it is written anew in any case.

            The results go to standard output, a line each; failures and progress to standard error. The exit status is \
            0 only if every image was written, be it in part, 1 if one was not, 130 after Ctrl-C.

            EXAMPLES
              webimage get https://example.com/photo.jpg
              webimage get -o thumbnails --max-pixel-size 256 --input urls.txt
              webimage get --fill 300x200 --filter mitchell https://example.com/photo.jpg
              webimage get --format webp --quality 80 photo.png
              webimage get --max-pixel-size 200 --format webp animation.gif
              cut -f 2 table.tsv | webimage get --input - --json > log.jsonl
            """)

    @Argument(help: "What to get: http, https and file URLs, or paths of files.")
    var sources: [String] = []

    @Option(name: [.customShort("o"), .customLong("output")], help: "The folder for the files; made if there is none.")
    var output = "."

    @Option(help: "Shrink to at most this width and height, in pixels. Smaller images stay as they are.")
    var maxPixelSize: Int?

    @Option(
        help: ArgumentHelp(
            "Shrink to fit into a box of so many pixels. Smaller images stay as they are.", valueName: "WxH"))
    var fit: BoxSize?

    @Option(
        help: ArgumentHelp(
            "Shrink to fill a box of so many pixels, and cut off what overlaps. Of smaller images the largest part of "
                + "that shape is kept.", valueName: "WxH"))
    var fill: BoxSize?

    @Option(
        help: ArgumentHelp(
            "How pixels are weighted when an image shrinks: lanczos3 is sharp, box fast.", valueName: "name"))
    var filter: Resampling.Filter?

    @Option(help: "What to write.")
    var format: OutputFormat?

    @Flag(help: "Of animations, write the first frame only, as a still image.")
    var firstFrame = false

    @Flag(help: "Write images that are cut off or damaged as far as they go; their results say partial.")
    var allowPartial = false

    @Option(
        help: ArgumentHelp(
            "Also write what can be shown of an image while it arrives, as NAME-01.png, NAME-02.png and so on in this folder; "
                + "made if there is none. Of URLs, not of files. At most 16 of each image and 64 MiB, at ever longer "
                + "intervals.", valueName: "folder"))
    var progressiveDir: String?

    @Option(help: "For JPEG and WebP, 1 to 100. (default: 85)")
    var quality: Int?

    @Flag(help: "Write WebP without loss.")
    var lossless = false

    @Flag(help: "Write JPEG that shows the whole image early, coarsely.")
    var progressive = false

    @Option(help: "Images under way at one time; fewer if the process may not open enough files (ulimit -n).")
    var concurrency = 16

    @Option(help: ArgumentHelp("Of those, most from one host. (default: as many)", valueName: "number"))
    var perHost: Int?

    @Option(help: ArgumentHelp("Most requests to one host each second, on average.", valueName: "number"))
    var rate: Double?

    @Flag(help: "Keep the pixels as they are stored, even if the camera was held askew.")
    var ignoreOrientation = false

    @Flag(help: "Keep colours as they are stored, and their profile with them, instead of converting them to sRGB.")
    var keepProfile = false

    @Option(
        help: ArgumentHelp(
            "Also get every URL of this file, one a line, in UTF-8; - for standard input. Lines with # in front are left out."
        ))
    var input: String?

    @Flag(help: "Write one JSON object a line for each image instead of text.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Keep what is downloaded in this folder, made if there is none, and take it from there as HTTP allows.",
            valueName: "folder"))
    var cache: String?

    @Option(help: "What the cache's files may be used for. (default: protocol)")
    var cachePolicy: CacheUse?

    @Option(
        help: ArgumentHelp(
            "Most memory that one image may take while it is checked or converted, in MiB. (default: 112 to check it; to "
                + "convert it a quarter of the machine's memory, at most 1024)", valueName: "MiB"))
    var memoryLimit: Int?

    @OptionGroup var requests: RequestOptions

    @OptionGroup var network: NetworkOptions

    func validate() throws {
        guard !sources.isEmpty || input != nil else {
            throw ValidationError("Nothing to get: give URLs, or a list with --input.")
        }
        if format == .original {
            guard !allowPartial else {
                throw ValidationError("--format original does not decode; --allow-partial cannot be heeded.")
            }
            if let option = sizes.first ?? filter.map({ _ in "--filter" }) {
                throw ValidationError("--format original writes what was downloaded; \(option) cannot change it.")
            }
            guard !ignoreOrientation else {
                throw ValidationError(
                    "--format original writes what was downloaded; --ignore-orientation cannot change it.")
            }
            guard !keepProfile else {
                throw ValidationError("--format original writes what was downloaded; --keep-profile cannot change it.")
            }
            guard !firstFrame else {
                throw ValidationError("--format original writes what was downloaded; --first-frame cannot change it.")
            }
        }
        guard sizes.count <= 1 else { throw ValidationError("\(sizes.joined(separator: " and ")) exclude each other.") }
        guard filter == nil || sizes.count == 1 else {
            throw ValidationError("--filter is for shrinking: add --max-pixel-size, --fit or --fill.")
        }
        if let maxPixelSize, maxPixelSize < 1 { throw ValidationError("--max-pixel-size must be at least 1.") }
        try validateEncoding()
        guard progressiveDir == nil || input != nil || sources.contains(where: { ImageSource(argument: $0).isURL })
        else {
            throw ValidationError("--progressive-dir is for URLs: files are there at once.")
        }
        guard cachePolicy == nil || cache != nil else { throw ValidationError("--cache-policy is for --cache.") }
        guard (1...1_024).contains(concurrency) else { throw ValidationError("--concurrency must be from 1 to 1024.") }
        if let perHost, perHost < 1 { throw ValidationError("--per-host must be at least 1.") }
        if let memoryLimit, !(1...1 << 20).contains(memoryLimit) {
            throw ValidationError("--memory-limit must be from 1 to 1048576.")
        }
        if let rate, !(rate > 0) { throw ValidationError("--rate must be above 0.") }
    }
}

extension GetCommand {
    /// Throws if an option of one format is given for another, where it would be without effect.
    private func validateEncoding() throws {
        if let quality, !(1...100).contains(quality) { throw ValidationError("--quality must be from 1 to 100.") }
        if keepProfile, format == .gif {
            throw ValidationError("GIF has no profiles: --keep-profile is for other formats.")
        }
        if lossless, format != .webp { throw ValidationError("--lossless is for WebP: add --format webp.") }
        guard !lossless || quality == nil else { throw ValidationError("--lossless and --quality exclude each other.") }
        let given = [quality.map { _ in "--quality" }, progressive ? "--progressive" : nil].compactMap(\.self)
        guard let option = given.first else { return }
        if let format, format != .jpeg, format != .webp || progressive {
            throw ValidationError(
                "\(progressive ? "--progressive is for JPEG" : "--quality is for JPEG and WebP"), "
                    + "not for --format \(format.rawValue).")
        }
        if plan.way == .verified, !allowPartial {
            throw ValidationError("\(option) is for what is written anew: add --format jpeg, or a size.")
        }
    }

    /// What is to be written for each image.
    var plan: OutputPlan {
        OutputPlan(
            format: format, options: decodeOptions, quality: quality ?? 85, isLossless: lossless,
            isProgressive: progressive, takesFirstFrame: firstFrame)
    }

    /// What images may take of the memory.
    var memoryLimits: MemoryLimits { MemoryLimits(bytes: memoryLimit.map { $0 << 20 }) }

    /// The options that say how large an image shall be.
    private var sizes: [String] {
        [
            maxPixelSize.map { _ in "--max-pixel-size" }, fit.map { _ in "--fit" }, fill.map { _ in "--fill" },
        ].compactMap(\.self)
    }

    /// What becomes of the pixels.
    var decodeOptions: DecodeOptions {
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
        return DecodeOptions(
            target: target, resampling: Resampling(filter: filter ?? .lanczos3), ignoresOrientation: ignoreOrientation,
            allowsPartial: allowPartial, keepsProfile: keepProfile)
    }
}

/// The cache policies as words of the command line.
enum CacheUse: String, ExpressibleByArgument, CaseIterable {
    case `protocol`
    case reload
    case revalidate
    case cacheElseLoad = "cache-else-load"
    case cacheOnly = "cache-only"

    var policy: CachePolicy {
        switch self {
        case .protocol: .useProtocol
        case .reload: .reload
        case .revalidate: .revalidate
        case .cacheElseLoad: .cacheElseLoad
        case .cacheOnly: .cacheOnly
        }
    }
}

/// What `webimage get` writes.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case jpeg
    case png
    case webp
    case gif
    case original
}
