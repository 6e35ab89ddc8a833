/// The challenges of `WWW-Authenticate` (RFC 9110, section 11.6.1).
struct Challenges: Equatable {
    /// The names of authentication schemes, in lowercase, in the order in which the response lists them.
    private(set) var schemes: [String] = []
    /// The first realm.
    private(set) var realm: String?

    /// Parses the values of all fields of that name; invalid parts are ignored.
    init(_ values: [String]) {
        for value in values { read(Array(value.utf8)) }
    }

    /// Parses `scheme`, `scheme token68`, or `scheme name=value, name="value"`, separated by commas.
    private mutating func read(_ bytes: [UInt8]) {
        var index = 0
        func skip(_ characters: String) {
            while index < bytes.count, characters.utf8.contains(bytes[index]) { index += 1 }
        }
        func word() -> String {
            let start = index
            while index < bytes.count, !" \t,=\"".utf8.contains(bytes[index]) { index += 1 }
            return String(decoding: bytes[start..<index], as: UTF8.self)
        }
        func quoted() -> String {
            var content: [UInt8] = []
            index += 1
            while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count { index += 1 }
                content.append(bytes[index])
                index += 1
            }
            index += 1
            return String(decoding: content, as: UTF8.self)
        }
        while index < bytes.count {
            skip(" \t,")
            let name = word()
            skip(" \t")
            guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else {
                if !name.isEmpty { schemes.append(name.lowercased()) }
                // A stray quotation mark.
                if name.isEmpty, index < bytes.count { index += 1 }
                continue
            }
            // One of these can also end a token68.
            skip("= \t")
            let value = index < bytes.count && bytes[index] == UInt8(ascii: "\"") ? quoted() : word()
            if name.lowercased() == "realm", realm == nil { realm = value }
        }
    }
}
