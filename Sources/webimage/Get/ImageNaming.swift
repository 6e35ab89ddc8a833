import AsyncWebImage

/// The rule for the names of files that `webimage get` writes to a folder.
struct ImageNaming: Sendable {
    /// The template of names; `nil` for the names of the sources alone.
    var template: NameTemplate?
    /// A Boolean value that indicates whether the name in the header field `Content-Disposition` is preferred.
    var usesHeader = false

    /// Returns the name for the image of `source`, with the extension `suffix`.
    func name(of source: ImageSource, head: ResponseHead?, suffix: String) -> FileName {
        let suggested = usesHeader ? head?.response.headerFields[.contentDisposition] : nil
        let name = FileName(source: suggested.flatMap(ContentDisposition.fileName(in:)) ?? source.text, suffix: suffix)
        guard let template else { return name }
        // The other parts of the template are not cut off.
        let room = FileName.maximumStemBytes - template.text(index: source.index, name: "").utf8.count
        var short = name.stem
        while short.utf8.count > max(1, room) { short.removeLast() }
        return FileName(stem: template.text(index: source.index, name: short), suffix: name.suffix)
    }
}

/// A template of file names, such as `{index:05}-{name}`.
struct NameTemplate: Sendable, Equatable {
    private enum Part: Equatable {
        case text(String)
        /// The number of the source, with leading zeros up to `digits`.
        case index(digits: Int)
        case name
    }

    private let parts: [Part]

    /// Creates a template from its text; returns `nil` if it is empty or has a slash, an unknown field, or a brace without
    /// its counterpart.
    init?(_ text: String) {
        guard !text.isEmpty, !text.contains("/") else { return nil }
        var parts: [Part] = []
        var rest = text[...]
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[brace] == "{", let end = rest[brace...].firstIndex(of: "}") else { return nil }
            if brace > rest.startIndex { parts.append(.text(String(rest[..<brace]))) }
            guard let field = Self.field(rest[rest.index(after: brace)..<end]) else { return nil }
            parts.append(field)
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
    }

    private static func field(_ text: Substring) -> Part? {
        if text == "name" { return .name }
        if text == "index" { return .index(digits: 1) }
        guard text.hasPrefix("index:"), text.dropFirst("index:".count).allSatisfy(\.isNumber),
            let digits = Int(text.dropFirst("index:".count)), (1...18).contains(digits)
        else { return nil }
        return .index(digits: digits)
    }

    /// Returns the name of the image of the source with this number, counted from 1.
    func text(index: Int, name: String) -> String {
        parts.map { part in
            switch part {
            case .text(let text): return text
            case .name: return name
            case .index(let digits):
                let number = String(index)
                return String(repeating: "0", count: max(0, digits - number.count)) + number
            }
        }.joined()
    }
}
