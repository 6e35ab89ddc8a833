import ArgumentParser

/// The command that runs the benchmarks.
@main
struct Scenarios: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenarios",
        abstract: "Compare ways to download and decode images.",
        subcommands: [RunCommand.self, CaseCommand.self, OriginCommand.self, ProxyCommand.self],
        defaultSubcommand: RunCommand.self)
}
