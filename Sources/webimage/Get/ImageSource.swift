import AsyncWebImage

/// Where an image is to come from, as somebody typed it.
struct ImageSource: Sendable, Equatable {
    enum Place: Sendable, Equatable {
        case url(String)
        case file(path: String)
        /// What was given can be neither.
        case nowhere(reason: String)
    }

    /// The text to show: what was typed, without the user name and password of a URL.
    let text: String
    let place: Place

    /// A Boolean value that indicates whether it has to be downloaded.
    var isURL: Bool {
        if case .url = place { true } else { false }
    }

    /// An argument of the command: a URL if it has a scheme, else a path.
    init(argument: String) {
        if let path = Self.path(ofFileURL: argument) {
            text = argument
            place = .file(path: path)
        } else if argument.contains("://") || argument.lowercased().hasPrefix("data:") {
            text = HTTPURL.displayText(of: argument)
            place = .url(argument)
        } else {
            text = argument
            place = .file(path: argument)
        }
    }

    /// A line of a list, which is a URL: lists come from elsewhere and must not reach the files of this machine.
    init(listed: String) {
        text = HTTPURL.displayText(of: listed)
        place = .url(listed)
    }

    /// A line of a list that can be no URL, as far as it can be shown.
    init(unusable text: String, reason: String) {
        self.text = HTTPURL.displayText(of: text)
        place = .nowhere(reason: reason)
    }

    private static func path(ofFileURL url: String) -> String? {
        for prefix in ["file://localhost/", "file:///"] where url.lowercased().hasPrefix(prefix) {
            return "/" + url.dropFirst(prefix.count).removingPercentEscapes
        }
        return nil
    }
}

extension Substring {
    /// Percent escapes undone, unless that does not give UTF-8.
    var removingPercentEscapes: String {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self) ?? String(self)
    }
}
