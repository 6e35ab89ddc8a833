import Logging
import WebimageConsole

/// Writes the log of the library, from warnings on, to standard error in the style of the command's messages.
struct CommandLog: LogHandler {
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        Terminal.error.tell(Self.line("\(event.message)", all.mapValues { "\($0)" }))
    }

    /// Returns the line for a message: the message, followed by its metadata.
    static func line(_ message: String, _ metadata: [String: String]) -> String {
        let details = metadata.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        return "webimage: \((details.isEmpty ? message : "\(message) (\(details))").printable)\n"
    }
}
