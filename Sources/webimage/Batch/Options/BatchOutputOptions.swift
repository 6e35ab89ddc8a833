import ArgumentParser
import Hashing

/// The options for the output of `webimage batch`.
struct BatchOutputOptions: ParsableArguments {
    private static let defaultMaxRetryableRate = 0.5

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The destination; - for standard output.", valueName: "folder"))
    var path: String?

    @Option(
        help: """
            The format of standard output: frames (described above), ndjson (a line of JSON for each record), or tar (an \
            archive of the successful images).
            """)
    var stream: StreamForm = .frames

    @Option(
        help: ArgumentHelp(
            "Include the image files in the records of --stream ndjson, in this encoding.", valueName: "encoding"))
    var payload: PayloadEncoding?

    @Flag(
        help: """
            Write records and samples, and the file of --log, in the order of the list; at most --lookahead records are \
            held until earlier ones are ready.
            """)
    var ordered = false

    @Flag(help: "Include the additional columns of the list in the records on standard output.")
    var echo = false

    @Option(
        help: ArgumentHelp(
            "With --stream tar, write all records to this file: with --ordered, in the order of the list, and otherwise "
                + "as they become ready. If it is a pipe, downloads pause while its reader does not read.",
            valueName: "file"))
    var log: String?

    @Option(
        help: """
            The format of the images of a shard in a folder: webdataset (a tar archive), files (a folder with a file for the \
            image, its record, and its caption), or none (only the records). Parquet files are written by the Python package \
            webimage-batch.
            """)
    var outputFormat: ShardFolder.Form = .webdataset

    @Flag(
        help: """
            Leave the samples and records of a shard in the order in which they were ready, which differs from run to run, \
            instead of copying them in the order of the list.
            """)
    var unsorted = false

    @Option(help: "The format of the file of records next to each shard; none writes no such file.")
    var sidecar: SidecarForm = .jsonl

    @Option(
        help: ArgumentHelp(
            "Run this shell command for each shard when its files are complete, before its marker is written. The paths of "
                + "the files are its arguments, as in 'for f; do aws s3 cp \"$f\" s3://bucket/ || exit; done'. If it fails, "
                + "the shard is not complete, its files are removed, and the run ends with exit status 74. The files of a new "
                + "version of a complete shard remain, and the next run repeats the command.",
            valueName: "command"))
    var postShard: String?

    @Flag(
        help: """
            Write shards again even if they are complete. The earlier version of a shard remains until the new one is \
            complete and meets the conditions of --max-retryable-rate and --min-success-rate. If the folder has more shards, \
            of an earlier list, they remain, which a message says.
            """)
    var overwrite = false

    @Flag(
        help: """
            In complete shards, request the lines again that failed with retryable errors, and write these shards again with \
            the new results; all other images and records are copied from the shards. Shards without such lines are not \
            changed. The images and records of a shard also remain as they are if all of these lines fail with retryable \
            errors again, or if the shard would not meet the conditions of --max-retryable-rate and --min-success-rate, which \
            apply to all of its lines. Shards that are not complete are written as without this option.
            """)
    var retryFailed = false

    @Flag(
        help: """
            Add the shards of this list after those in the folder. A list that the folder has, which is recognized by its first \
            100 lines, is not added again: an interrupted run of it is continued. While a list is being written, no other list can \
            be added.
            """)
    var extend = false

    @Option(
        help: ArgumentHelp(
            "Do not complete a shard if more than this share of its lines, from 0 to 1, failed with retryable errors such as "
                + "timeouts, which suggests a network outage. If nine of ten lines, and at least 10, failed with tls, which "
                + "suggests a proxy or a missing certificate, these failures count, too. The exit status is then 75. With --retry-failed, this applies to "
                + "all lines of a shard, not only to those requested again; the earlier version of the shard remains.",
            valueName: "rate"))
    var maxRetryableRate = Self.defaultMaxRetryableRate

    @Option(
        help: ArgumentHelp(
            "Do not complete a shard if less than this share of its lines, from 0 to 1, succeeded. The exit status is "
                + "then 75.",
            valueName: "rate"))
    var minSuccessRate = 0.0

    @Option(
        help: ArgumentHelp(
            "The number of lines per shard. The names of shards and samples depend on it.", valueName: "number"))
    var samplesPerShard = 10_000

    @Flag(
        help: """
            Read only the headers of the images: records have their formats and sizes, but there are no images and no digests. \
            The download of an image stops after its header.
            """)
    var headerOnly = false

    @Option(help: "The digest of each body: md5, sha256, sha512, or none.")
    var computeHash: ComputedDigest = .sha256

    @Flag(
        help: """
            Add the member exif: the Exif data of JPEG, PNG, and WebP images, which can contain the location, as the text of a \
            JSON object such as {"Make":"Canon","ExposureTime":"1/60"}.
            """)
    var exif = false

    @Flag(
        help: """
            Add the member phash: 64 bits in hexadecimal that differ little between images that look alike, comparable to \
            those of phash in the Python package imagehash.
            """)
    var computePhash = false

    @Flag(help: "Add the member thumbhash: the ThumbHash of the image, a placeholder of up to 25 bytes, in Base64.")
    var computeThumbhash = false

    @Option(
        help: ArgumentHelp(
            "Write the lines that failed with retryable errors to this file, as a list for another run; with a folder, "
                + "also those in complete shards of an earlier run, or of another process, and all lines of shards that this "
                + "run did not complete. The lines that an interrupted run had not read are not in the file; it reads up to "
                + "--lookahead lines in advance.",
            valueName: "file"))
    var failedTo: String?

    @Option(
        help: ArgumentHelp(
            "Write the progress to standard error at this interval; 0 for never. (default: 10; on a terminal, a progress "
                + "bar)", valueName: "seconds"))
    var statsInterval: Double?

    @Option(
        help: """
            The form of the progress on standard error: json, or hadoop, the status and counters of Hadoop Streaming. \
            (default: json; on a terminal, a progress bar)
            """)
    var progress: BatchProgress.Form?

    @Option(
        help: ArgumentHelp(
            "Write the counts of successes and failures to this file, as JSON, when the run ends. With a folder, they "
                + "include complete shards of an earlier run, or of another process, which the member earlier counts on "
                + "their own. The lines of other parts, and of shards that another process was writing, are not "
                + "included (skipped_count), nor are those of shards whose markers contain no counts (unknown_count), or "
                + "that are not complete (incomplete_count).",
            valueName: "file"))
    var summary: String?

    @Flag(
        help: """
            End with exit status 1 if an image failed. With a folder, this includes the images of complete shards that \
            this run did not write, and such shards count as failed if their markers contain no counts.
            """)
    var failOnError = false

    func validate() throws {
        guard (1...1_000_000_000).contains(samplesPerShard) else {
            throw ValidationError("--samples-per-shard must be from 1 to 1000000000.")
        }
        if let statsInterval, !(0...86_400).contains(statsInterval) {
            throw ValidationError("--stats-interval must be from 0 to 86400.")
        }
        for (name, rate) in [("--max-retryable-rate", maxRetryableRate), ("--min-success-rate", minSuccessRate)]
        where !(0...1).contains(rate) {
            throw ValidationError("\(name) must be from 0 to 1.")
        }
        guard path != "" else { throw ValidationError("--output is empty.") }
        if let path, path.hasSuffix(".tar") {
            throw ValidationError(
                "--output names a folder: add a slash, or write one archive with --output - --stream tar > \(path)")
        }
        for (option, file) in [("--log", log), ("--failed-to", failedTo), ("--summary", summary)] where file == "-" {
            throw ValidationError("\(option) names a file: records are written to standard output with --output -.")
        }
        if path != nil, let option = output == "-" ? folderOption : streamOption {
            throw ValidationError(
                "\(option) applies to \(output == "-" ? "a folder" : "standard output, --output -").")
        }
        guard !retryFailed || !overwrite else {
            throw ValidationError("--retry-failed and --overwrite cannot be combined.")
        }
        guard !retryFailed || sidecar != .none else {
            throw ValidationError("--retry-failed reads the records of the earlier run: use it without --sidecar none.")
        }
        guard payload == nil || stream == .ndjson else {
            throw ValidationError("--payload applies to --stream ndjson.")
        }
        if headerOnly, stream == .tar || payload != nil {
            throw ValidationError("--header-only writes no images: use it without --stream tar and --payload.")
        }
        guard !headerOnly || outputFormat != .files else {
            throw ValidationError("--header-only writes no images: use it without --output-format files.")
        }
        guard !headerOnly || !exif else {
            throw ValidationError("--header-only and --exif cannot be combined: Exif data can follow the header.")
        }
        guard log == nil || stream == .tar else { throw ValidationError("--log applies to --stream tar.") }
    }

    /// An option that applies only to a folder, if one was used.
    private var folderOption: String? {
        if postShard != nil { return "--post-shard" }
        if outputFormat != .webdataset { return "--output-format" }
        if retryFailed { return "--retry-failed" }
        if maxRetryableRate != Self.defaultMaxRetryableRate { return "--max-retryable-rate" }
        if minSuccessRate > 0 { return "--min-success-rate" }
        if sidecar != .jsonl { return "--sidecar" }
        return overwrite ? "--overwrite" : extend ? "--extend" : unsorted ? "--unsorted" : nil
    }

    /// An option that applies only to standard output, if one was used.
    private var streamOption: String? {
        ordered ? "--ordered" : echo ? "--echo" : stream != .frames ? "--stream" : nil
    }

    /// The path of the folder, or `-`.
    var output: String { path ?? "" }

    /// The digest to compute of each body; `nil` for none.
    var digest: DigestAlgorithm? { headerOnly ? nil : computeHash.algorithm }

    /// The hashes to compute of the pixels.
    var pixelHashes: [PixelHash] { (computePhash ? [.phash] : []) + (computeThumbhash ? [.thumbhash] : []) }

    /// The format of the shards in a folder.
    var shardFormat: ShardFolder.Form { headerOnly ? .none : outputFormat }

    /// Returns the columns of the records in a folder.
    func folderColumns(_ list: ListColumns) -> BatchRecord.Columns {
        BatchRecord.Columns(
            passesOn: true, hasCaption: list.caption != nil, hasKey: true, hasExif: exif, digest: digest,
            hashes: pixelHashes)
    }

    /// Returns the columns of the records on standard output.
    func streamColumns(_ list: ListColumns) -> BatchRecord.Columns {
        BatchRecord.Columns(
            passesOn: echo, hasCaption: list.caption != nil, hasKey: stream == .tar,
            hasExif: exif, digest: digest, hashes: pixelHashes)
    }
}

extension ShardFolder.Form: ExpressibleByArgument {}

extension BatchProgress.Form: ExpressibleByArgument {}

/// The forms of the records of a shard, as arguments.
enum SidecarForm: String, ExpressibleByArgument, CaseIterable {
    case jsonl
    case none
}

/// The forms of the records on standard output, as arguments.
enum StreamForm: String, ExpressibleByArgument, CaseIterable {
    case frames
    case ndjson
    case tar
}

/// The encodings of image files in JSON records, as arguments.
enum PayloadEncoding: String, ExpressibleByArgument, CaseIterable {
    case base64
}

/// The digests of a record, as arguments.
enum ComputedDigest: String, ExpressibleByArgument, CaseIterable {
    case sha256
    case md5
    case sha512
    case none

    var algorithm: DigestAlgorithm? { DigestAlgorithm(rawValue: rawValue) }
}
