import ArgumentParser
import AsyncWebImage
import Threading
import WebimageConsole

import Glibc

/// The command `webimage cache`.
struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Inspect and change a folder of cached responses.",
        discussion: """
            The folder is the one passed to --cache of 'webimage get' or 'webimage batch', or to a program's ResponseCache. \
            This command and programs can use it at the same time.

            EXAMPLES
              webimage cache info ~/.cache/images
              webimage cache list --json ~/.cache/images
              webimage cache remove ~/.cache/images https://example.com/photo.jpg
              webimage cache clear --expired ~/.cache/images
              webimage cache verify ~/.cache/images
            """,
        subcommands: [Info.self, List.self, Remove.self, Clear.self, Verify.self])

    /// The folder that a subcommand works with.
    struct Folder: ParsableArguments {
        @Argument(help: ArgumentHelp("The folder of the cache.", valueName: "folder"), completion: .directory)
        var path: String

        /// Opens the cache, whose size is not limited here; throws `FileError` if there is none.
        ///
        /// If it is `readOnly`, nothing in the folder is changed.
        func open(readOnly: Bool = false) throws -> ResponseCache {
            var configuration = ResponseCache.Configuration(
                directory: path, createsDirectory: false, maximumBytes: .max)
            configuration.isReadOnly = readOnly
            do {
                return try ResponseCache(configuration)
            } catch .unusableCacheFolder(_, let reason) {
                if reason == FileError.reason(of: ENOENT), FileError.reading(path)?.code == EISDIR {
                    throw FileError(description: "there is no cache in \(path); pass the folder of --cache")
                }
                throw FileError(description: "there is no usable cache in \(path): \(reason)")
            }
        }

        /// Tells what could not be read, and throws the exit status for that, if there is something.
        func report(_ faults: CacheFaults) throws {
            guard !faults.isEmpty else { return }
            Terminal.error.tell("webimage: \(path.printable): \(faults.text.printable)\n")
            throw ExitCode.failure
        }
    }
}

// All commands state their names: to derive them from the types, the runtime searches all conformances at each start.
extension CacheCommand {
    /// The command `webimage cache info`.
    struct Info: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "info",
            abstract: "Print the number and the size of the cached responses.",
            discussion: """
                Nothing is changed. Responses whose heads are damaged are counted apart; bodies are not read, which \
                'webimage cache verify' does. The exit status is 1 if something could not be read.
                """)

        @Flag(help: "Write one line of JSON instead of text.")
        var json = false

        @OptionGroup var folder: Folder

        func run() async throws {
            let summary = try await CacheSummary(of: folder.open(readOnly: true))
            try Terminal.output.write((json ? summary.json : summary.text) + "\n")
            try folder.report(summary.faults.unread)
        }
    }

    /// The command `webimage cache list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Print the cached responses.",
            discussion: """
                Each line has the status code, the size of the body, the state, and the URL. The state is fresh, with \
                the remaining time; stale; or partial, if only a part of the body is stored. The order is arbitrary. Nothing \
                is changed. The exit status is 1 if responses are damaged or could not be read.
                """)

        @Flag(help: "Write one line of JSON per response instead of text.")
        var json = false

        @OptionGroup var folder: Folder

        func run() async throws {
            let (json, failure, faults) = (json, Locked<FileError?>(nil), Locked(CacheFaults()))
            try await folder.open(readOnly: true).forEachEntry { entry in
                do throws(FileError) {
                    try Terminal.output.write((json ? entry.json : entry.line) + "\n")
                    return true
                } catch {
                    failure.withLock { $0 = error }
                    return false
                }
            } onFault: { fault in
                faults.withLock { $0.add(fault) }
            }
            if let failure = failure.withLock({ $0 }) { throw failure }
            try folder.report(faults.withLock { $0 })
        }
    }

    /// The command `webimage cache remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove the responses for the given URLs, including those to requests with credentials.",
            discussion: "The exit status is 0 only if there was a response for every URL, and all were removed.")

        @OptionGroup var folder: Folder

        @Argument(help: "The URLs.")
        var urls: [String]

        func run() async throws {
            let cache = try folder.open()
            var isComplete = true
            for url in urls {
                let text = (try? HTTPURL(url))?.string ?? url
                let found = Locked(0)
                let removed = await cache.removeAll { entry in
                    guard entry.url == text else { return false }
                    found.withLock { $0 += 1 }
                    return true
                }
                guard removed == 0 || removed < found.withLock({ $0 }) else { continue }
                isComplete = false
                let reason = found.withLock { $0 } == 0 ? "not in the cache" : "cannot be removed"
                Terminal.error.tell("webimage: \(HTTPURL.displayText(of: url).printable): \(reason)\n")
            }
            if !isComplete { throw ExitCode.failure }
        }
    }

    /// The command `webimage cache clear`.
    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Remove all responses, the expired ones, or the least recently used ones.")

        @Flag(help: "Remove only responses that are no longer fresh, even if they could be revalidated.")
        var expired = false

        @Option(
            help: ArgumentHelp(
                "Remove only the least recently used responses, until the others take at most this size, in MiB.",
                valueName: "MiB"))
        var keep: Int?

        @OptionGroup var folder: Folder

        func validate() throws {
            guard keep == nil || !expired else { throw ValidationError("--keep cannot be combined with --expired.") }
            if let keep, !(0...1 << 30).contains(keep) {
                throw ValidationError("--keep must be from 0 to 1073741824.")
            }
        }

        func run() async throws {
            let cache = try folder.open()
            let before = (count: cache.entryCount, bytes: cache.byteCount)
            do {
                if let keep {
                    try await cache.removeUntil(fitting: keep << 20)
                } else if expired {
                    let failure = Locked<(any Error)?>(nil)
                    await cache.removeAll {
                        $0.freshSeconds <= 0
                    } onFailure: { error in
                        failure.withLock { $0 = $0 ?? error }
                    }
                    if let failure = failure.withLock({ $0 }) { throw failure }
                } else {
                    try await cache.removeAll()
                }
            } catch {
                let kind = keep == nil && !expired ? "all responses" : "responses"
                throw FileError(description: "cannot remove \(kind) in \(folder.path): \(error)")
            }
            let count = max(0, before.count - cache.entryCount)
            let bytes = ByteCount(max(0, before.bytes - cache.byteCount))
            try Terminal.output.write("removed \(count) \(count == 1 ? "response" : "responses"), \(bytes)\n")
        }
    }

    /// The command `webimage cache verify`.
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Read all responses, and count those that are damaged.",
            discussion: """
                Nothing is changed: a damaged response is removed when it is needed, and downloaded again. The exit status \
                is 1 if responses are damaged or could not be read.
                """)

        @OptionGroup var folder: Folder

        func run() async throws {
            let faults = Locked(CacheFaults())
            let result = try await folder.open(readOnly: true).verify { error in
                faults.withLock { $0.add(.unlisted(error)) }
            }
            let unreadable = result.unreadable > 0 ? ", \(result.unreadable) unreadable" : ""
            try Terminal.output.write("\(result.intact) intact, \(result.damaged) damaged\(unreadable)\n")
            try folder.report(faults.withLock { $0 })
            if result.damaged + result.unreadable > 0 { throw ExitCode.failure }
        }
    }
}
