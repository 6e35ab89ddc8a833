import WebimageConsole

/// The name under which an image is written: from its URL or path, made safe for any folder.
///
/// No separator, no control character, no leading dot or dash, at most 200 bytes. All of that is about code points: a
/// combining mark behind a dot makes another character of it for people, but not for the file system.
struct FileName: Equatable {
    /// The name without its extension.
    private(set) var stem: String
    /// The extension, without the dot.
    let suffix: String

    private static let mostBytes = 200
    /// Room for the dot, the extension, and the number that tells namesakes apart.
    private static let bytesForTheRest = 20

    /// The name for the image of `source`, a URL or a path, whose format is written `suffix`, for instance `jpg`.
    init(source: String, suffix: String) {
        let name = Self.lastComponent(of: source)
        let (stem, oldSuffix) = Self.split(name)
        let keepsSpelling = suffix == "jpg" && ["jpeg", "jpe", "jfif"].contains(oldSuffix?.lowercased())
        self.suffix = keepsSpelling ? oldSuffix ?? suffix : suffix
        self.stem = Self.safe(stem)
    }

    /// The name for the so manieth preview, from 1: `photo-01.png`.
    static func preview(_ number: Int, source: String) -> Self {
        var name = Self(source: source, suffix: "png")
        name.stem += number < 10 ? "-0\(number)" : "-\(number)"
        return name
    }

    /// The name, or with a number from 2 the name of its so manieth namesake: `photo-2.jpg`.
    func numbered(_ number: Int) -> String {
        number < 2 ? "\(stem).\(suffix)" : "\(stem)-\(number).\(suffix)"
    }

    /// Of a URL without query, and with its percent escapes undone.
    private static func lastComponent(of source: String) -> String {
        let source = source.unicodeScalars[...]
        guard let scheme = source.firstRange(of: "://".unicodeScalars) else { return String(source.lastComponent) }
        let path = source[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        guard let slash = path.firstIndex(of: "/") else { return "" }
        return Substring(path[slash...].lastComponent).removingPercentEscapes
    }

    /// What follows the last dot is an extension if it looks like one: up to five letters and digits, not all digits.
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
        while name.utf8.count > mostBytes - bytesForTheRest { name.removeLast() }
        while let last = name.last, last.isWhitespace || last == "." { name.removeLast() }
        return name.isEmpty ? "image" : name
    }
}

extension Substring.UnicodeScalarView {
    fileprivate var lastComponent: Self { self[(lastIndex(of: "/").map { index(after: $0) } ?? startIndex)...] }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether it changes the character before it.
    fileprivate var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}
