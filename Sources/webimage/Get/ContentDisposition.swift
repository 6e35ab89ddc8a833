import WebimageConsole

/// The header field `Content-Disposition` (RFC 6266).
enum ContentDisposition {
    /// Returns the file name in the value of the field: that of `filename*` if there is a usable one, or otherwise of
    /// `filename`; `nil` if there is none.
    static func fileName(in value: String) -> String? {
        let parameters = parameters(of: value)
        func first(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
        let name = first("filename*").flatMap(decoded) ?? first("filename")
        return name?.isEmpty == true ? nil : name
    }

    /// Returns the parameters behind the disposition type; quotation marks are removed.
    private static func parameters(of value: String) -> [(name: String, value: String)] {
        var texts = [""]
        var isQuoted = false
        var isEscaped = false
        var rest = value[...]
        while let character = rest.popFirst() {
            if isEscaped {
                texts[texts.count - 1].append(character)
                isEscaped = false
            } else if isQuoted, character == "\\", rest.first == "\"" || rest.first == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ";", !isQuoted {
                texts.append("")
            } else {
                texts[texts.count - 1].append(character)
            }
        }
        return texts.dropFirst().compactMap { text in
            guard let sign = text.firstIndex(of: "=") else { return nil }
            let value = text[text.index(after: sign)...].withoutBlanksAround
            return (text[..<sign].withoutBlanksAround.lowercased(), String(value))
        }
    }

    /// Returns the text of an extended value (RFC 8187), such as `UTF-8''na%C3%AFve.jpg`.
    private static func decoded(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        let text = parts[2].removingPercentEscapes
        return text.isEmpty || text.contains("%") && text == parts[2] ? nil : text
    }
}
