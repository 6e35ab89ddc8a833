import ArgumentParser

/// The options of `webimage batch` that divide a list among processes.
struct BatchPartOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write only the shards of process i of n processes, where i is from 0 to n-1.", valueName: "i/n"))
    var part: PartArgument?

    @Option(
        help: ArgumentHelp(
            "The unit that --part divides: shard (the processes take turns with the shards of the list) or host (all lines "
                + "with one host belong to one process, so that --rate and --per-host hold for all processes together). With "
                + "host, all processes must use the same n and the same --spread-host.", valueName: "unit"))
    var partBy: PartUnit = .shard

    @Option(
        help: ArgumentHelp(
            "With --part-by host, divide the lines with this host among all processes. Use this for a host that has "
                + "most of the list. All processes then send requests to it, so --sharers is n by default. Can be repeated.",
            valueName: "host"))
    var spreadHost: [HostArgument] = []

    @Flag(
        help: """
            With --part, skip shards that another process is writing, instead of waiting for them. Without --part, such \
            shards are always skipped.
            """)
    var claim = false

    func validate() throws {
        guard part != nil || partBy == .shard else { throw ValidationError("--part-by host requires --part.") }
        guard partBy == .host || spreadHost.isEmpty else {
            throw ValidationError("--spread-host applies to --part-by host.")
        }
    }

    /// An option that was used; `nil` if there is none.
    var usedOption: String? { part != nil ? "--part" : claim ? "--claim" : nil }

    /// The division by hosts; `nil` if there is none.
    var hosts: HostParts? {
        guard let part = part?.part, partBy == .host else { return nil }
        return HostParts(count: part.count, spread: Set(spreadHost.map(\.host)))
    }

    /// The plan of the shards of this process.
    func plan(_ keys: SampleKeys) -> ShardPlan {
        ShardPlan(keys: keys, part: part?.part, unit: hosts.map { .host($0) } ?? .shard)
    }

    /// The number of processes that send requests to one host.
    var sharers: Int { partBy == .host && spreadHost.isEmpty ? 1 : part?.part.count ?? 1 }
}

/// A part of several processes as an argument, such as `0/8`.
struct PartArgument: ExpressibleByArgument, Sendable {
    /// The maximum number of parts.
    static let maximumCount = 1_000_000

    let part: ShardPlan.Part

    init?(argument: String) {
        let numbers = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let number = numbers[0], let count = numbers[1],
            (1...Self.maximumCount).contains(count), (0..<count).contains(number)
        else { return nil }
        part = ShardPlan.Part(number: number, count: count)
    }
}

/// The units that belong to a part as a whole, as arguments.
enum PartUnit: String, ExpressibleByArgument, CaseIterable {
    case shard
    case host
}

/// A host as an argument, such as `example.com`.
struct HostArgument: ExpressibleByArgument, Sendable, Equatable {
    /// The host in the form that URLs have after they are parsed.
    let host: String

    init?(argument: String) {
        guard !argument.utf8.contains(where: { "/?#@\\".utf8.contains($0) }),
            let host = HostParts.host(of: "http://\(argument)/"), !argument.hasSuffix(":"),
            HostParts.host(of: "http://\(argument):80/") == host
        else { return nil }
        self.host = host
    }
}
