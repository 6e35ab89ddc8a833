import ArgumentParser

struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "info")
}
