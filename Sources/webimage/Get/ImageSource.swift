import AsyncWebImage
import WebimageConsole

/// The source of an image, as typed by the user.
struct ImageSource: Sendable, Equatable {
    enum Location: Sendable, Equatable {
        case url(String)
        case file(path: String)
        case standardInput
        /// An invalid source.
        case invalid(reason: String)
    }

    /// The text to display: the source as typed, without user name and password.
    let text: String
    let location: Location
    /// The number of the source in its run, counted from 1.
    var index = 1

    /// A Boolean value that indicates whether the source must be downloaded.
    var isURL: Bool {
        if case .url = location { true } else { false }
    }

    /// Creates a source from a command-line argument: a URL if it has a scheme, standard input for `-`, otherwise a path.
    ///
    /// Blanks around a URL are ignored; a path can have them.
    init(argument written: String) {
        let argument = String(written.withoutBlanksAround)
        if written == "-" {
            (text, location) = ("-", .standardInput)
        } else if let location = Self.location(ofFileURL: argument) {
            text = if case .file = location { argument } else { HTTPURL.displayText(of: argument) }
            self.location = location
        } else if argument.contains("://") || argument.lowercased().hasPrefix("data:") {
            text = HTTPURL.displayText(of: argument)
            location = .url(argument)
        } else {
            text = written
            location = .file(path: written)
        }
    }

    /// Creates a source from a line of a list, which must be a URL: lists can be untrusted and must not access local
    /// files.
    init(listed: String) {
        text = HTTPURL.displayText(of: listed)
        location = .url(listed)
    }

    /// Creates an invalid source from a line of a list, with its displayable part.
    init(unusable text: String, reason: String) {
        self.text = HTTPURL.displayText(of: text)
        location = .invalid(reason: reason)
    }

    /// Returns the pieces of a file, or of standard input, which can be endless, up to `limit` bytes; throws an error for
    /// other sources.
    func localPieces(limit: Int) throws(FileError) -> any ImagePieces {
        switch location {
        case .file(let path): FilePieces(try ImageFile(path: path, isSource: true))
        case .standardInput: InputPieces(try InputBlocks(path: "-"), limit: limit)
        case .invalid(let reason): throw FileError(description: reason)
        case .url: throw FileError(description: "it must be downloaded")
        }
    }

    /// Returns the location that a file URL names; `nil` for anything else.
    private static func location(ofFileURL url: String) -> Location? {
        let start = url.lowercased()
        guard start.hasPrefix("file://") else { return nil }
        guard let prefix = ["file://localhost/", "file:///"].first(where: { start.hasPrefix($0) }) else {
            return .invalid(reason: "a file URL names a file of this machine: file:///path")
        }
        let path = "/" + url.dropFirst(prefix.count).removingPercentEscapes
        // The system would take the part before it as the path.
        guard !path.utf8.contains(0) else { return .invalid(reason: "a path cannot contain a null character") }
        return .file(path: path)
    }
}

extension Substring {
    /// The text with percent escapes decoded, unless the result is not valid UTF-8.
    var removingPercentEscapes: String {
        String(validating: PercentEncoding.decoded(utf8), as: UTF8.self) ?? String(self)
    }
}
