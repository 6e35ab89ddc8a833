import ArgumentParser

/// The benchmarks as a command.
@main
struct Scenarios: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenarios",
        abstract: "How fast are the ways to download and decode images, next to each other?",
        subcommands: [RunCommand.self, CaseCommand.self], defaultSubcommand: RunCommand.self)
}
