import AsyncWebImage
import ImageCodecs
import WebimageConsole

/// A flat JSON object, written in the order in which its members are added.
struct JSONObject {
    private var members: [UInt8] = []

    /// The object as a single line, in UTF-8.
    var bytes: [UInt8] { [UInt8(ascii: "{")] + members + [UInt8(ascii: "}")] }
    /// The object as a single line.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func add(_ key: String, _ value: String?) { add(key, raw: value.map(Self.quoted)) }

    mutating func add(_ key: String, _ value: Int?) { add(key, raw: value.map { Array(String($0).utf8) }) }

    mutating func add(_ key: String, _ value: Bool?) { add(key, raw: value.map { Array(String($0).utf8) }) }

    /// Adds the codes of warnings as an array; `nil` adds `null`.
    mutating func add(_ key: String, _ warnings: Set<ImageWarning>?) {
        let codes = warnings?.map(\.rawValue).sorted().map { String(decoding: Self.quoted($0), as: UTF8.self) }
        add(key, raw: codes.map { Array("[\($0.joined(separator: ","))]".utf8) })
    }

    /// Adds a number with three decimals.
    mutating func add(_ key: String, rounded value: Double) {
        let thousandths = Int((min(max(value, -1e12), 1e12) * 1_000).rounded())
        let decimals = String(1_000 + thousandths.magnitude % 1_000).dropFirst()
        let sign = thousandths < 0 ? "-" : ""
        add(key, raw: Array("\(sign)\(thousandths.magnitude / 1_000).\(decimals)".utf8))
    }

    /// Adds a value that is already encoded as JSON; `nil` adds `null`.
    mutating func add(_ key: String, raw value: [UInt8]?) { add(rawKey: Self.quoted(key), value ?? Array("null".utf8)) }

    /// Adds a member whose name and value are already encoded as JSON.
    mutating func add(rawKey key: [UInt8], _ value: [UInt8]) {
        if !members.isEmpty { members.append(UInt8(ascii: ",")) }
        members += key
        members.append(UInt8(ascii: ":"))
        members += value
    }

    /// Returns `text` as a JSON string.
    static func quoted(_ text: String) -> [UInt8] {
        var quoted = [UInt8(ascii: "\"")]
        quoted.reserveCapacity(text.utf8.count + 2)
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
        {
            quoted += text.utf8
        } else {
            for scalar in text.unicodeScalars { append(scalar, to: &quoted) }
        }
        quoted.append(UInt8(ascii: "\""))
        return quoted
    }

    private static func append(_ scalar: Unicode.Scalar, to quoted: inout [UInt8]) {
        switch scalar {
        case "\"": quoted += "\\\"".utf8
        case "\\": quoted += "\\\\".utf8
        case "\n": quoted += "\\n".utf8
        case "\r": quoted += "\\r".utf8
        case "\t": quoted += "\\t".utf8
        // Control characters must be escaped. The others are for the sake of readers: a line separator ends a line
        // for some, and on a terminal a change of direction makes a URL look like another one.
        case _ where scalar.isInvisible:
            for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                let digits = String(unit, radix: 16)
                quoted += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
            }
        default: quoted += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
    }
}
