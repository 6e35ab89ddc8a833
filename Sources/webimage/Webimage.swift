import ArgumentParser
import AsyncWebImage
import Logging
import WebimageConsole

import Glibc

/// The command-line tool, which downloads complete and verified images.
@main
struct Webimage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webimage",
        abstract: "Download, verify, shrink, and convert images.",
        discussion: """
            EXAMPLES
              webimage get https://example.com/photo.jpg
              webimage get --max-pixel-size 512 -o thumbnails --input urls.txt
              webimage info https://example.com/photo.jpg
              webimage cache info ~/.cache/images
              webimage batch --input list.jsonl --output - --max-pixel-size 256 | program
            """,
        version: PackageVersion.current,
        subcommands: [GetCommand.self, InfoCommand.self, BatchCommand.self, CacheCommand.self, FormatsCommand.self])

    static func main() async {
        // Writing to a closed pipe must be an error instead of terminating the process.
        signal(SIGPIPE, SIG_IGN)
        // So must writing a file larger than `ulimit -f` allows.
        signal(SIGXFSZ, SIG_IGN)
        Terminal.fillGaps()
        LoggingSystem.bootstrap { _ in CommandLog() }
        do {
            try validateArguments()
            let arguments = ArgumentCheck.normalized(Array(CommandLine.arguments.dropFirst()))
            checkArguments(arguments)
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                // First, because the runtime terminates a process that has no descriptor for it.
                try await OpenFileBudget.prepareProcess()
                try await command.run()
            } else {
                try command.run()
            }
        } catch let interrupted as Interruption.Interrupted {
            // The terminal shows ^C, in whose place the prompt belongs.
            if Terminal.error.isInteractive { Terminal.error.tell("\r\u{1B}[K") }
            exit(withError: ExitCode(interrupted.exitStatus))
        } catch let error as FileError {
            Terminal.error.tell("webimage: \(error.description.printable)\n")
            exit(withError: ExitCode.failure)
        } catch {
            exit(withError: error)
        }
    }

    /// Ends the process if there is a mistake in the arguments, with the usage of the command to which they belong.
    private static func checkArguments(_ arguments: [String]) {
        let names = configuration.subcommands.compactMap { $0.configuration.commandName }
        func command(_ name: String) -> (any ParsableCommand.Type)? {
            configuration.subcommands.first { $0.configuration.commandName == name }
        }
        do throws(ValidationError) {
            try ArgumentCheck.check(arguments, subcommands: ["help"] + names) { name in
                command(name).map { helpMessage(for: $0) } ?? ""
            }
        } catch {
            guard let name = arguments.first, let command = command(name) else { exit(withError: error) }
            // In the words of the parser, which would take the mistake for one of the root command.
            let usage = usageString(for: command).replacing("\n", with: "\n       ")
            let help = "See 'webimage \(name) --help' for more information."
            Terminal.error.tell("Error: \(error.message.printable)\nUsage: \(usage)\n  \(help)\n")
            exit(withError: ExitCode(64))
        }
    }

    /// Throws an error if an argument is not UTF-8, because Swift would change it so that it names another file.
    private static func validateArguments() throws {
        for index in (0..<Int(CommandLine.argc)).dropFirst() {
            let isValid = unsafe CommandLine.unsafeArgv[index].map { unsafe String(validatingCString: $0) != nil }
            if isValid == false { throw ValidationError("Argument \(index) is not UTF-8.") }
        }
    }
}
