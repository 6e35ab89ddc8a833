import ArgumentParser
import Digests

/// The options for the output of `webimage batch`.
struct BatchOutputOptions: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The destination; - for standard output.", valueName: "folder"))
    var output: String

    @Option(help: "The form of the records on standard output.")
    var stream: StreamForm = .frames

    @Option(
        help: ArgumentHelp("Include the files in the records of --stream ndjson: base64.", valueName: "encoding"))
    var payload: PayloadEncoding?

    @Flag(help: "Write records in the order of the list; at most --lookahead of them wait for an earlier one.")
    var ordered = false

    @Flag(help: "Include the additional columns of the list in the records on standard output.")
    var echo = false

    @Option(help: ArgumentHelp("The file for the records of --stream tar.", valueName: "file"))
    var log: String?

    @Option(help: ArgumentHelp("The number of lines of a shard, which determines its names.", valueName: "number"))
    var samplesPerShard = 10_000

    @Option(help: "The digest of each body: md5, sha256, sha512, or none.")
    var computeHash: ComputedDigest = .sha256

    @Option(
        help: ArgumentHelp(
            "Write the lines whose failure may not occur again to this file, as a list for another run.",
            valueName: "file"))
    var failedTo: String?

    @Option(
        help: ArgumentHelp(
            "Write a line of JSON about the progress to standard error at this interval; 0 for never. (default: 10; on a "
                + "terminal, a progress bar)", valueName: "seconds"))
    var statsInterval: Double?

    @Option(help: ArgumentHelp("Write the numbers of the run to this file at its end.", valueName: "file"))
    var summary: String?

    @Flag(help: "End with exit status 1 if an image failed.")
    var failOnError = false

    func validate() throws {
        guard (1...1_000_000_000).contains(samplesPerShard) else {
            throw ValidationError("--samples-per-shard must be from 1 to 1000000000.")
        }
        if let statsInterval, !(0...86_400).contains(statsInterval) {
            throw ValidationError("--stats-interval must be from 0 to 86400.")
        }
        guard output == "-" else { throw ValidationError("--output must be -, for standard output.") }
        guard payload == nil || stream == .ndjson else {
            throw ValidationError("--payload applies to --stream ndjson.")
        }
        guard log == nil || stream == .tar else { throw ValidationError("--log applies to --stream tar.") }
        guard !ordered || stream != .tar || output == "-" else {
            throw ValidationError("--ordered applies to --output -.")
        }
    }

    /// The columns of the records on standard output.
    func streamColumns(_ list: ListColumns) -> BatchRecord.Columns {
        BatchRecord.Columns(
            passesOn: echo, hasCaption: list.caption != nil, hasKey: stream == .tar,
            digest: computeHash.algorithm)
    }
}

/// The forms of the records on standard output, as arguments.
enum StreamForm: String, ExpressibleByArgument, CaseIterable {
    case frames
    case ndjson
    case tar
}

/// The encodings of files in JSON, as arguments.
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
