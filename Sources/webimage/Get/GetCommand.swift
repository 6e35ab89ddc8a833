import ArgumentParser
import AsyncWebImage

/// The command `webimage get`.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Download images, check them, and write them to files.",
        discussion: """
            EXAMPLES
              webimage get https://example.com/photo.jpg
              webimage get -o small.webp --max-pixel-size 512 https://example.com/photo.jpg
              webimage get -o - --format png - < photo.webp | program
              webimage get -o thumbnails --max-pixel-size 256 --input urls.txt
              webimage get --fill 300x200 --filter mitchell https://example.com/photo.jpg
              webimage get --format webp --quality 80 photo.png
              webimage get --max-pixel-size 200 --format webp animation.gif
              cut -f 2 table.tsv | webimage get --input - --json > log.jsonl

            Unless you set --format, --output with another extension, a size option (--max-pixel-size, --fit, --fill, or \
            --resize-mode), or another option that changes the image, such as --first-frame, --crop, or --max-output-bytes, an \
            image is written as downloaded, byte for byte, after it has been verified: all scans of \
            a JPEG, all passes of a PNG, and all frames of an animation are decoded up to the end marker of the file, and \
            the checksums of PNG are verified. The correctness of colors and \
            metadata, and data after the end marker, are not checked. A file that deviates from its format without a missing or \
            doubtful pixel is accepted, such as one without its end marker; the line of its image has warnings (the member \
            warnings with --json), and --strict rejects it. With one of these options other than --format, the \
            default format is JPEG, or PNG if the image has transparent parts; an animation keeps its format and its frames \
            unless --first-frame is set. --format original checks only the header, which rejects files that are not images; \
            damaged or truncated images are written unchanged.

            A file that is not an image is rejected after its first bytes. An image that needs more memory to verify than \
            --memory-limit allows counts as failed. If the disk is full, the command ends.

            With --output NAME.EXTENSION and one source, the image is written to that file; the extension chooses the format: \
            an image that has it is written as downloaded unless another option changes it, others are converted. An \
            existing file is kept unless you add --overwrite. With --output -, the image is written to standard output, and \
            its line to standard error. Anything else names a folder: a name without extension, one that ends with a slash, \
            an existing folder, and, with several sources, any name without the extension of a format to write.

            webimage batch stores long lists in shards, continues where it was interrupted, and honors X-Robots-Tag and \
            robots.txt, which this command does not read.

            In a folder, a file is named after the last part of its URL, with the extension of its actual format; see also \
            --remote-header-name and --name. It appears complete or not \
            at all, and existing files are never overwritten: the second photo.jpg becomes photo-2.jpg, even if the \
            first is from an earlier run.

            Converted images have sRGB colors, regardless of the original's profile. With --keep-profile, the \
            colors are not converted, and the profile is embedded; WebP files and animations cannot store grayscale \
            profiles, so that such images are converted.

            With --allow-partial, the decodable part of a truncated or damaged image is written, converted as with --format; \
            of an animation, the frames before the damage are written, and a frame with damaged pixels shows what could be \
            decoded. Without the option, or if nothing can be decoded, the image counts as failed. If the download of an image \
            that would be written unchanged fails even after --retries, the image is downloaded once more to decode the part \
            that arrives.

            There is one line per image: on standard output if the image was written, and on standard error if it failed. With \
            --json, all of these lines are on standard output (with --output -, on standard error). Progress is shown on standard error. If a preview cannot be \
            written, its image has no further ones and is not affected otherwise; the reason is on standard error or, with \
            --json, the member preview_error. The exit status is 0 if every image was written, even if only partially; 1 if \
            one was not, or a result could not be written; 64 if the options are invalid, or the file of --input is missing or \
            no list of URLs; and 129, 130, or 143 after SIGHUP, Ctrl-C, or SIGTERM.
            """)

    @Argument(help: "The images: http, https, and file URLs, paths of files, or - for standard input.")
    var sources: [String] = []

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "The file for one image, - for standard output, or the folder for files; created if necessary.",
            valueName: "file or folder"))
    var output = "."

    @Flag(help: "Replace the file that --output names.")
    var overwrite = false

    @Flag(help: "Name files as the server suggests in Content-Disposition, if it does.")
    var remoteHeaderName = false

    @Option(
        help: ArgumentHelp(
            "Name files in the folder like this, with their extensions appended: {name} is the usual name, {index} the number "
                + "of the source, and {index:05} the same with 5 digits.", valueName: "template"),
        transform: Self.template)
    var name: NameTemplate?

    @OptionGroup var images: ImageOptions

    @Flag(help: "Write the decodable part of truncated or damaged images; their status is partial.")
    var allowPartial = false

    @Option(
        help: ArgumentHelp(
            "Also write previews of arriving images to this folder, created if necessary, as NAME-01.png, NAME-02.png, and so "
                + "on. For URLs, not for files. At most 16 previews and 64 MiB per image, at increasing "
                + "intervals.", valueName: "folder"))
    var progressiveDir: String?

    @Flag(help: "Write lossless WebP, AVIF, or JPEG XL, with 8 bits per channel.")
    var lossless = false

    @Flag(help: "Write progressive JPEG, which viewers can show coarsely while it loads.")
    var progressive = false

    @Option(
        help: ArgumentHelp(
            """
            The number of images processed at a time, not counting those that wait for --rate, or for a retry before \
            their first bytes have arrived; reduced if the limit on open files (ulimit -n) is too low for it.
            """, valueName: "number"))
    var concurrency = 128

    @OptionGroup var perHost: PerHostOption

    @Option(
        help: ArgumentHelp(
            "The maximum average number of requests per second to one host. (default: no limit)", valueName: "number"))
    var rate: Double?

    @Flag(help: "Do not apply the Exif orientation.")
    var ignoreOrientation = false

    @Option(
        help: ArgumentHelp(
            "Also get the URLs in this file, one per line, in UTF-8; - for standard input. Blank lines, lines that begin with "
                + "#, and blanks around a URL are ignored. The file can be compressed with gzip. For CSV and JSON, use "
                + "webimage batch.", valueName: "file"))
    var input: String?

    @Flag(help: "Write one line of JSON per image instead of text.")
    var json = false

    @OptionGroup var cache: CacheOptions

    @Option(
        help: ArgumentHelp(
            "The maximum memory for verifying or converting one image, in MiB. (default: a quarter of the memory of the "
                + "machine or container, at most 768)", valueName: "MiB")
    )
    var memoryLimit: Int?

    @OptionGroup var work: WorkOption

    @OptionGroup var requests: RequestOptions

    @OptionGroup var network: NetworkOptions

    func validate() throws {
        guard !sources.isEmpty || input != nil else {
            throw ValidationError("Nothing to get: pass URLs, or a list with --input.")
        }
        guard sources.count(where: { $0 == "-" }) + (input == "-" ? 1 : 0) <= 1 else {
            throw ValidationError("Standard input, -, can be read only once.")
        }
        if let input, input != "-", let error = ValidationError("--input", reading: input) { throw error }
        try validateOutput()
        if images.format == .original {
            guard !allowPartial else {
                throw ValidationError("--format original does not decode; --allow-partial has no effect.")
            }
            guard !ignoreOrientation else {
                throw ValidationError(
                    "--format original writes what was downloaded; --ignore-orientation cannot change it.")
            }
        }
        if allowPartial, images.strict {
            throw ValidationError("--allow-partial and --strict cannot be combined.")
        }
        try validateEncoding()
        guard progressiveDir?.isEmpty != true else { throw ValidationError("--progressive-dir has no value.") }
        guard progressiveDir == nil || input != nil || sources.contains(where: { ImageSource(argument: $0).isURL })
        else {
            throw ValidationError("--progressive-dir applies to URLs: local files have no previews.")
        }
        guard (1...1_024).contains(concurrency) else { throw ValidationError("--concurrency must be from 1 to 1024.") }
        if let memoryLimit, !(1...1 << 20).contains(memoryLimit) {
            throw ValidationError("--memory-limit must be from 1 to 1048576.")
        }
        if let rate, !(rate > 0) { throw ValidationError("--rate must be above 0.") }
    }
}

extension GetCommand {
    /// Throws an error if an option of one format is used with another format, where it has no effect.
    private func validateEncoding() throws {
        if images.skipReencode, lossless || progressive {
            throw ValidationError("--skip-reencode cannot be combined with --\(lossless ? "lossless" : "progressive").")
        }
        if lossless, !plan.isConverted || (images.format ?? (try? target.format))?.canBeLossless != true {
            throw ValidationError(
                "--lossless applies to WebP, AVIF, and JPEG XL: add --format webp, --format avif, or --format jpegxl.")
        }
        guard !lossless || images.quality == nil else {
            throw ValidationError("--lossless and --quality cannot be combined.")
        }
        try images.validateQuality(for: plan)
        guard progressive else { return }
        if let format = images.format ?? (try? target.format), format != .jpeg {
            throw ValidationError("--progressive applies to JPEG, not to --format \(format.rawValue).")
        }
        try ImageOptions.validate("--progressive", for: plan)
    }

    /// Throws an error if `--output` and the other options contradict each other.
    private func validateOutput() throws {
        let target = try target
        if case .folder = target {
            guard !overwrite else {
                throw ValidationError("--overwrite applies to a file: one source, and --output NAME.EXTENSION.")
            }
            return
        }
        guard name == nil, !remoteHeaderName else {
            throw ValidationError("\(name == nil ? "--remote-header-name" : "--name") applies to files in a folder.")
        }
        if case .stream = target {
            guard !overwrite else { throw ValidationError("--overwrite applies to a file: \(output) is none.") }
            return
        }
        guard let suffix = target.fileExtension else { return }
        if images.format == nil, let implied = target.format {
            var images = images
            images.format = implied
            try images.validate()
        }
        if let format = images.format {
            guard target.format == nil || format == .original || target.format == format else {
                throw ValidationError("--format \(format.rawValue) contradicts the extension of \(output).")
            }
        } else if target.format == nil {
            throw ValidationError(
                "no image can be written as .\(suffix), but as .jpg, .png, .webp, .gif, .avif, .jxl, and .npy; for a "
                    + "folder, write \(output)/")
        }
    }

    /// The destination of the images.
    var target: OutputTarget {
        get throws {
            try OutputTarget(output, forOneSource: sources.count == 1 && input == nil, replaces: overwrite)
        }
    }

    private static func template(_ text: String) throws -> NameTemplate {
        guard let template = NameTemplate(text) else {
            throw ValidationError("\(text) is not a template: its fields are {name}, {index}, and {index:05}.")
        }
        return template
    }

    /// The plan for the output of each image.
    var plan: OutputPlan {
        var decoding = images.decoding
        decoding.ignoresOrientation = ignoreOrientation
        decoding.allowsPartial = allowPartial
        let implied = images.format == nil ? try? target.format : nil
        return OutputPlan(
            format: images.format ?? implied, options: decoding, resizing: images.resize.rule,
            transformations: images.changes.transformations, quality: images.quality,
            isLossless: lossless, isProgressive: progressive, takesFirstFrame: images.firstFrame,
            isStrict: images.strict, skipsReencoding: images.skipReencode,
            keepsFormat: implied != nil && images.quality == nil && !lossless && !progressive,
            keepsGainMap: images.keepGainMap, maximumBytes: images.maxOutputBytes?.bytes)
    }

    /// The memory limits for images.
    var memoryLimits: MemoryLimits { MemoryLimits(bytes: memoryLimit.map { $0 << 20 }) }
}
