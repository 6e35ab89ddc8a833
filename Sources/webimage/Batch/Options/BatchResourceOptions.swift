import ArgumentParser
import AsyncWebImage

/// The options that limit the resources that `webimage batch` uses, including those of the servers.
struct BatchResourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The number of transfers at a time; reduced if the limit on open files (ulimit -n) is too low for it.",
            valueName: "number"))
    var concurrency = 64

    @OptionGroup var perHost: PerHostOption

    @Option(
        help: ArgumentHelp(
            "The maximum average number of requests per second to one host. (default: no limit)", valueName: "number"))
    var rate: Double?

    @Option(
        help: ArgumentHelp(
            "The number of processes among which --rate and --per-host are divided; each process keeps at least 1 transfer "
                + "per host. (default: n of --part i/n, or 1 with --part-by host but without --spread-host; otherwise 1)",
            valueName: "number"))
    var sharers: Int?

    @Option(
        help: ArgumentHelp(
            "The maximum number of name lookups at a time; fewer if ulimit -n is below 16 times this number.",
            valueName: "number"))
    var dnsConcurrency = 64

    @Option(
        help: ArgumentHelp(
            "The maximum number of lines that have been read but have no record yet. Lines that wait for a slow host, a rate "
                + "limit, or a retry do not count toward --concurrency.", valueName: "lines"))
    var lookahead = 2_048

    @Option(help: ArgumentHelp("The maximum size of a body, such as 500K, 64M, or 1G.", valueName: "bytes"))
    var maxBytes = ByteAmount(64 << 20)

    @Option(help: ArgumentHelp("The maximum number of pixels of an image.", valueName: "pixels"))
    var maxPixels = DecodeLimits().maximumPixels

    @OptionGroup var work: WorkOption

    @Option(
        help: ArgumentHelp(
            "The maximum memory for images that are converted at the same time. An image that needs more, up to a quarter of "
                + "the memory of the machine or container and at most 768 MiB, is converted alone.", valueName: "bytes")
    )
    var memory = ByteAmount(192 << 20)

    @Option(
        help: ArgumentHelp(
            "The number of threads that convert images. (default: one per processor)", valueName: "number"))
    var threads: Int?

    @Option(
        help: ArgumentHelp(
            "The time for active transfers to finish after Ctrl-C or SIGTERM.", valueName: "seconds"))
    var grace = 10.0

    @Flag(help: "End immediately when the process that started this one ends, even if it is killed (Linux).")
    var dieWithParent = false

    func validate() throws {
        guard (1...4_096).contains(concurrency) else { throw ValidationError("--concurrency must be from 1 to 4096.") }
        if let rate, !(rate > 0) { throw ValidationError("--rate must be above 0.") }
        if let sharers, sharers < 1 { throw ValidationError("--sharers must be at least 1.") }
        guard (1...1_024).contains(dnsConcurrency) else {
            throw ValidationError("--dns-concurrency must be from 1 to 1024.")
        }
        guard (1...1_000_000).contains(lookahead) else {
            throw ValidationError("--lookahead must be from 1 to 1000000.")
        }
        guard memory.bytes >= 1 << 20 else { throw ValidationError("--memory must be at least 1M.") }
        guard maxPixels > 0 else { throw ValidationError("--max-pixels must be at least 1.") }
        if let threads, !(1...1_024).contains(threads) { throw ValidationError("--threads must be from 1 to 1024.") }
        guard (0...86_400).contains(grace) else { throw ValidationError("--grace must be from 0 to 86400.") }
    }
}
