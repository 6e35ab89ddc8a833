import ArgumentParser
import AsyncWebImage
import Hashing

/// The command `webimage batch`.
struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Download the images of a long list, and report the result for every line.",
        usage: """
            webimage batch --input <file> --output <folder> [<options>]
            webimage batch --verify <folder>
            """,
        discussion: """
            Each line of the list that is neither blank nor a comment results in exactly one record, which contains the id of \
            the line, whether or not the download succeeds. In any long list, some links are dead; by default, they do not change the exit status.

            With --output -, the records are written to standard output as soon as they are ready, so that another program can \
            process them during the run. With --stream frames, a record is a line of JSON; if its member payload is a number \
            above zero, it is followed by the image file, which has that number of bytes, and then by the next record. The first \
            line has the member start, and the last line has the member end; a stream without that line is incomplete. \
            Downloads pause while the reader does not read.

            With --output FOLDER, the images are written to shards of --samples-per-shard lines: 00000.tar, a tar archive for \
            WebDataset with the successful images; 00000.jsonl, a record for each line; and 00000_stats.json, the marker of a \
            complete shard, which is written last. With --output-format files, the images are in a folder 00000 instead of an \
            archive. A repeated run skips complete shards, and so continues an interrupted run; --summary, --failed-to, and \
            --fail-on-error cover their lines as well. It is an error if the list, or an option that affects the images or \
            records, differs from the earlier run; --extend adds another list. With --retry-failed, a repeated run also \
            requests the lines again that failed with retryable errors. A shard with a file that is missing, or whose size is \
            not that in the marker, is made again; --verify FOLDER also compares the digests. The bytes of an archive depend only on the lines, \
            these options, and the responses of the servers. Several processes can write shards of one list to a folder at the \
            same time. With --part-by host, a shard contains lines of one part, and some shard numbers may be missing.

            Unless you set --format, a size option (--max-pixel-size, --fit, --fill, or --resize-mode), or another option that \
            changes the image, such as --first-frame, --crop, or --max-output-bytes, images are written as downloaded, byte for \
            byte, after they have been verified. With --format original, only the header is checked. With a size option, the \
            default format is jpeg, with transparent parts on white and only the first frame of an animation; to keep them, \
            set --format webp. With other changes, it is jpeg, or png for transparent images, and an animation keeps its format \
            and its frames unless --first-frame is set.

            The member warnings of a record lists how a file deviates from its format without a missing or doubtful pixel: \
            missing_end, missing_checksum, missing_data, extra_bytes, extra_pixels, wrong_checksum, or small_window. It is null \
            if the image failed, or only its header was read. With --strict, such images fail with the code corrupt.

            LISTS
            NDJSON (.jsonl, .ndjson): one object per line, with the members url and, optionally, id and others. Plain lines \
            (.txt): one URL per line; lines that begin with # are comments. CSV: with a header line, as defined by RFC 4180; a \
            quotation mark that does not begin a value is a character of it. TSV: with a header line; there is no quoting. \
            Each can be compressed with gzip. On standard input, and in files with another extension, a brace as the first \
            non-blank byte means NDJSON, and any other byte one URL per line. Blanks around a URL are ignored; the record has \
            the URL as written. A line can be up to 1 MiB long. A quoted value that does not end within that length is one bad \
            line, and the next line follows its first line break. With --summary, the member list accounts for all lines of \
            the file.
            It is an error, before anything is written, if the list is empty (but standard input may be, with --output -), is \
            obviously in another format, such as Parquet, or has no column or member with the URLs. The same applies to a \
            column other than id that an option names, in CSV and TSV. A list with one URL per line has no columns; it is an \
            error if an option names one other than url and id.

            FAILURES
            The member error_code of a record is one of bad_line, invalid_url, host_not_found, dns_temporary, \
            connection_failed, connection_lost, tls, timeout_lookup, timeout_connect, timeout_first_byte, timeout_idle, \
            deadline, truncated, invalid_response, redirects, redirect_refused, auth, policy, proxy, http_ followed by \
            the status (http_404), robots_tag, robots_txt, too_many_bytes, empty_body, not_an_image, corrupt, truncated_image, \
            unsupported, too_many_pixels, too_many_frames, too_small, too_large, aspect_ratio, hash_mismatch, encode, transform, \
            not_cached (with --cache-policy cache-only), too_many_open_files, cancelled, and other. The member retryable tells whether the \
            same line may succeed later.

            EXIT STATUS
            0 if the run reached the end of the list and all of its shards are complete, even if images failed; 1 if an \
            image failed, in this run or an earlier one, and --fail-on-error is set, or if --verify finds a fault; 64 if the \
            options are invalid, or the list is missing, empty, in another format, or without a column that is needed; 65 if \
            the folder belongs to another run, or another list is being written to it; 74 if the output cannot be written, \
            --cache is not a usable folder, the command of --post-shard fails, or --retry-failed finds a damaged shard (the \
            other shards are retried); 75 if a shard is not complete, or not written again, because of \
            --max-retryable-rate or --min-success-rate; \
            129, 130, or 143 after SIGHUP, Ctrl-C, or SIGTERM.

            EXAMPLES
              webimage batch --input list.jsonl --output shards --max-pixel-size 256 \\
                --public-only
              webimage batch --input list.jsonl --output - --max-pixel-size 256 \\
                --public-only | program
              webimage batch --verify shards
            """)

    @OptionGroup(title: "List") var list: BatchListOptions

    @OptionGroup(title: "Output") var output: BatchOutputOptions

    @Option(
        help: ArgumentHelp(
            "Instead of reading a list, compare the files in a folder of shards with the sizes and digests in their markers. "
                + "There is a line for each file that is missing or different, or that no marker describes.",
            valueName: "folder"))
    var verify: String?

    @OptionGroup(title: "Parts") var parts: BatchPartOptions

    @OptionGroup(title: "Images") var images: ImageOptions

    @OptionGroup(title: "Rules") var rules: BatchRuleOptions

    @OptionGroup(title: "Resources") var resources: BatchResourceOptions

    @OptionGroup(title: "Downloads") var requests: RequestOptions

    @OptionGroup(title: "Cache") var cache: CacheOptions

    @OptionGroup(title: "Network") var network: NetworkOptions

    func validate() throws {
        guard verify == nil else { return }
        guard list.path != nil else { throw ValidationError("There is no list: add --input with a file, or -.") }
        guard output.path != nil else {
            throw ValidationError("There is no destination: add --output with a folder, or -.")
        }
        if !list.lineOptions { try images.validateQuality(for: plan) }
        if output.output == "-", let option = parts.usedOption {
            throw ValidationError("\(option) applies to a folder.")
        }
        if let hash = output.pixelHashes.first, !plan.isConverted || output.headerOnly {
            throw ValidationError(
                "--compute-\(hash.rawValue) applies to converted images: add --format jpeg or a size option.")
        }
        if let hash = output.pixelHashes.first, images.skipReencode {
            throw ValidationError("--compute-\(hash.rawValue) and --skip-reencode cannot be combined.")
        }
        if output.headerOnly {
            guard plan == OutputPlan(format: nil, options: DecodeOptions(), quality: images.quality) else {
                throw ValidationError("--header-only writes no images: options for images have no effect.")
            }
            guard !list.lineOptions else {
                throw ValidationError("--header-only and --line-options cannot be combined.")
            }
            guard list.verifyHash == nil else {
                throw ValidationError("--header-only and --verify-hash cannot be combined.")
            }
        }
        if let verified = list.verifyHash?.algorithm, let computed = output.digest, verified != computed {
            throw ValidationError(
                "--verify-hash \(verified.rawValue) requires --compute-hash \(verified.rawValue) or --compute-hash none."
            )
        }
    }
}
