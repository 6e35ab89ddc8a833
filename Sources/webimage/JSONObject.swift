import WebimageConsole

/// A flat JSON object, written in the order in which its members are added.
struct JSONObject {
    private var members: [String] = []

    /// The object as a single line.
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
            // Control characters must be escaped. The others are for the sake of readers: a line separator ends a line
            // for some, and on a terminal a change of direction makes a URL look like another one.
            case _ where scalar.isInvisible:
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                    let digits = String(unit, radix: 16)
                    quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
