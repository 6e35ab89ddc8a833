import WebimageConsole

/// A file name for an image, derived from its URL or path and safe for any folder.
///
/// It contains no separator or control character, does not start with a dot or dash, and has at most 200 bytes. The
/// rules apply to code points: a combining mark after a dot changes the character for people, but not for the file
/// system.
struct FileName: Equatable {
    /// The name without its extension.
    private(set) var stem: String
    /// The extension, without the dot.
    let suffix: String

    private static let maximumBytes = 200
    /// The number of bytes reserved for the dot, the extension, and the number of a duplicate name.
    private static let reservedBytes = 20
    /// The maximum length of a name without its extension.
    static let maximumStemBytes = maximumBytes - reservedBytes

    /// Creates the name for the image of `source`, a URL or a path, with the extension `suffix`, for example `jpg`.
    init(source: String, suffix: String) {
        let name = Self.lastComponent(of: source)
        let (stem, oldSuffix) = Self.split(name)
        let keepsSpelling = suffix == "jpg" && ["jpeg", "jpe", "jfif"].contains(oldSuffix?.lowercased())
        self.suffix = keepsSpelling ? oldSuffix ?? suffix : suffix
        self.stem = Self.safe(stem)
    }

    /// Creates a name whose stem is `stem` made safe.
    init(stem: String, suffix: String) {
        self.stem = Self.safe(stem)
        self.suffix = suffix
    }

    /// Returns the name of a preview, numbered from 1: `photo-01.png`.
    static func preview(_ number: Int, source: String) -> Self {
        var name = Self(source: source, suffix: "png")
        name.stem += number < 10 ? "-0\(number)" : "-\(number)"
        return name
    }

    /// Returns the name, with `number` appended if it is 2 or more: `photo-2.jpg`.
    func numbered(_ number: Int) -> String {
        number < 2 ? "\(stem).\(suffix)" : "\(stem)-\(number).\(suffix)"
    }

    /// Returns the last path component; for a URL, without the query and with percent escapes decoded.
    private static func lastComponent(of source: String) -> String {
        let source = source.unicodeScalars[...]
        guard let scheme = source.firstRange(of: "://".unicodeScalars) else { return String(source.lastComponent) }
        let path = source[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        guard let slash = path.firstIndex(of: "/") else { return "" }
        return Substring(path[slash...].lastComponent).removingPercentEscapes
    }

    /// Splits off an extension: up to five letters and digits after the last dot, not all digits.
    private static func split(_ name: String) -> (stem: String, suffix: String?) {
        guard let dot = name.lastIndex(of: ".") else { return (name, nil) }
        let suffix = name[name.index(after: dot)...]
        let looksLikeOne =
            (1...5).contains(suffix.utf8.count) && suffix.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            && suffix.contains { $0.isLetter }
        return looksLikeOne ? (String(name[..<dot]), String(suffix)) : (name, nil)
    }

    private static func safe(_ stem: String) -> String {
        var name = ""
        for scalar in stem.unicodeScalars where !scalar.isInvisible {
            name.unicodeScalars.append(["/", "\\", ":"].contains(scalar) ? "_" : scalar)
        }
        name = String(name.unicodeScalars.drop { $0 == "." || $0 == "-" || $0.properties.isWhitespace || $0.isMark })
        while name.utf8.count > maximumStemBytes { name.removeLast() }
        while let last = name.last, last.isWhitespace || last == "." { name.removeLast() }
        return name.isEmpty ? "image" : name
    }
}

extension Substring.UnicodeScalarView {
    fileprivate var lastComponent: Self { self[(lastIndex(of: "/").map { index(after: $0) } ?? startIndex)...] }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether the character modifies the previous one.
    fileprivate var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}
