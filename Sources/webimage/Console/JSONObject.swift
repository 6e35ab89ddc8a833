/// A flat JSON object, written in the order in which its members are added.
struct JSONObject {
    private var members: [String] = []

    /// The object in one line.
    var text: String { "{" + members.joined(separator: ",") + "}" }

    mutating func add(_ key: String, _ value: String?) {
        members.append("\(Self.quoted(key)):\(value.map(Self.quoted) ?? "null")")
    }

    mutating func add(_ key: String, _ value: Int?) {
        members.append("\(Self.quoted(key)):\(value.map(String.init) ?? "null")")
    }

    mutating func add(_ key: String, _ value: Bool?) {
        members.append("\(Self.quoted(key)):\(value.map(String.init) ?? "null")")
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            // Line and paragraph separator end a line for some readers of JSON lines.
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
