import WebimageConsole

/// A line of a list, and its meaning.
struct ListEntry: Sendable, Equatable {
    /// A column that is passed on: its name and its value as JSON.
    struct Column: Sendable, Equatable {
        let name: [UInt8]
        let value: [UInt8]
    }

    /// The number of the line, from 0; blank lines and comments are not counted.
    let index: Int
    /// The number of the line among those from which shards are made (see ``ShardPlan/position(of:)``).
    var position: Int
    /// The line as it was read.
    let line: RawLine
    /// The URL without the blanks around it.
    var url: String? { writtenURL.map { String($0.withoutBlanksAround) } }
    /// The URL as written.
    var writtenURL: String?
    /// The identifier as a JSON scalar, byte for byte.
    var id: [UInt8]
    var caption: String?
    /// The expected digest of the body.
    var digest: String?
    /// The options of the line, as JSON.
    var options: [UInt8]?
    var passedOn: [Column] = []
    /// The line that names the columns of the list; `nil` if there is none.
    var header: [UInt8]?
    /// The reason why the line cannot be used; `nil` if it can.
    var problem: String?

    init(index: Int, line: RawLine) {
        self.index = index
        position = index
        self.line = line
        id = Array(String(index).utf8)
    }
}

extension ListEntry {
    /// Reads a line that is a URL.
    init(urlLine line: RawLine, index: Int) {
        self.init(index: index, line: line)
        guard let text = validText() else { return }
        writtenURL = text
    }

    /// Reads a line that is a JSON object.
    init(jsonLine line: RawLine, index: Int, columns: ListColumns) {
        self.init(index: index, line: line)
        guard validText() != nil else { return }
        guard let members = JSONScanner.members(of: line.bytes) else {
            problem = "the line is not a JSON object"
            return
        }
        var names: Set<String> = []
        for member in members {
            if !names.insert(member.name).inserted { problem = "the member \(member.name) occurs twice" }
            switch member.name {
            case columns.id:
                if member.value.first == UInt8(ascii: "{") || member.value.first == UInt8(ascii: "[") {
                    problem = "the member \(columns.id) is neither a string nor a number"
                } else {
                    id = Array(member.value)
                }
            case columns.url:
                writtenURL = JSONScanner.text(of: member.value)
                if writtenURL == nil { problem = "the member \(columns.url) is not a string" }
            case columns.caption: caption = JSONScanner.text(of: member.value)
            case columns.digest:
                digest = JSONScanner.text(of: member.value)
                // A value that is ignored would leave the body unverified.
                if digest == nil, !member.value.elementsEqual("null".utf8) {
                    problem = "the member \(member.name) is neither a string nor null"
                }
            case columns.options: options = member.value.elementsEqual("null".utf8) ? nil : Array(member.value)
            default: passedOn.append(Column(name: Array(member.rawName), value: Array(member.value)))
            }
        }
        if !names.contains(columns.url) { problem = problem ?? "the line has no member \(columns.url)" }
    }

    /// Reads a line of values.
    init(line: RawLine, index: Int, header: [String], format: ListFormat, columns: ListColumns) {
        self.init(index: index, line: line)
        guard validText() != nil else { return }
        guard let values = format.values(of: line.bytes) else {
            problem = "a quoted field does not end"
            return
        }
        guard values.count == header.count else {
            problem = "the line has \(values.count) values instead of \(header.count)"
            return
        }
        for (name, value) in zip(header, values) {
            let text = String(decoding: value, as: UTF8.self)
            switch name {
            case columns.id: id = JSONObject.quoted(text)
            case columns.url: writtenURL = text
            case columns.caption: caption = text
            case columns.digest: digest = text.isEmpty ? nil : text
            case columns.options: options = text.isEmpty ? nil : Array(text.utf8)
            default: passedOn.append(Column(name: JSONObject.quoted(name), value: JSONObject.quoted(text)))
            }
        }
    }

    /// Returns the line as text; sets the problem if that is impossible.
    private mutating func validText() -> String? {
        guard !line.isCut else {
            problem = "the line is longer than \(RawLine.longest) bytes"
            return nil
        }
        guard let text = String(validating: line.bytes, as: UTF8.self) else {
            problem = "the line is not UTF-8"
            return nil
        }
        return text
    }
}
