import ArgumentParser
import Digests

/// The command `webimage batch`.
struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Download the images of a long list, and answer every line of it.",
        discussion: """
            Each line of the list that is not blank gets exactly one record, with its id, whatever happens to it. Dead links \
            are part of every list: they do not change the exit status.

            With --output -, the records are written to standard output as soon as they are ready, for a program that reads \
            along. With --stream frames, a record is a line of JSON; if its member payload is a number above zero, as many \
            bytes follow, the file of the image, and then the next line. The first line has the member start, the last one \
            end; without it, the stream was cut off. Downloads stop while the reader does not read.

            With --output FOLDER, the images are written to shards of --samples-per-shard lines: 00000.tar, a tar archive for \
            WebDataset with the successful images; 00000.jsonl, a record for each line; and 00000_stats.json, the marker of a \
            complete shard, which is written last. Shards that are complete are not made again, so that an interrupted run can \
            be repeated; a list or options that differ are an error. The bytes of an archive depend only on the lines, the options, and \
            the responses of the servers. Any number of processes can work on one folder.

            Without a size option or --format, images are written as downloaded, byte for byte, after they have been verified. \
            With --format original, only the header is checked. With a size option, the default format is jpeg.

            LISTS
              NDJSON (.jsonl, .ndjson): an object per line, with the members url, id, and any others. Lines (.txt): a URL \
            per line. CSV and TSV: with a header line, by RFC 4180. Each can be compressed with gzip. On standard input, a brace \
            as the first byte means NDJSON, anything else URLs. A line can have up to 1 MiB.

            FAILURES
              The member error_code of a record is one of bad_line, invalid_url, host_not_found, dns_temporary, \
            connection_failed, connection_lost, tls, timeout_lookup, timeout_connect, timeout_first_byte, timeout_idle, \
            deadline, truncated, invalid_response, redirects, redirect_refused, auth, policy, proxy, http_404 and other \
            statuses, robots_tag, too_many_bytes, empty_body, not_an_image, corrupt, truncated_image, \
            unsupported, too_many_pixels, too_many_frames, too_small, too_large, aspect_ratio, hash_mismatch, encode, cancelled, \
            and other. The member retryable tells whether the same line may succeed later.

            EXIT STATUS
              0 if all lines were answered and all shards are complete; 64 if the options or the columns of the list are \
            wrong; 65 if the folder is of another run; 74 if the output cannot be written; 75 if a shard is not complete \
            because too many of its lines failed in a way that may not occur again; 130 or 143 after Ctrl-C or SIGTERM.

            EXAMPLES
              webimage batch --input list.jsonl --output shards --max-pixel-size 256 --public-only
              webimage batch --input list.jsonl --output - --max-pixel-size 256 --public-only | program
            """)

    @OptionGroup(title: "List") var list: BatchListOptions

    @OptionGroup(title: "Output") var output: BatchOutputOptions

    @OptionGroup(title: "Images") var images: BatchImageOptions

    @OptionGroup(title: "Rules") var rules: BatchRuleOptions

    @OptionGroup(title: "Resources") var resources: BatchResourceOptions

    @OptionGroup(title: "Downloads") var requests: RequestOptions

    @OptionGroup(title: "Network") var network: NetworkOptions

    func validate() throws {
        if let verified = list.verifyHash?.algorithm, let computed = output.computeHash.algorithm, verified != computed
        {
            throw ValidationError(
                "--verify-hash \(verified.rawValue) requires --compute-hash \(verified.rawValue), or none.")
        }
    }
}
