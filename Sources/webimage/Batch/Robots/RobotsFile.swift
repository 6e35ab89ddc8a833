/// A parser of robots.txt (RFC 9309).
enum RobotsFile {
    /// The path of the file.
    static let path = "/robots.txt"
    /// The number of bytes after which the rest of a file is ignored: 500 KiB.
    static let limit = 500 << 10

    /// Returns the rules for the crawler with this product token.
    ///
    /// They are those of all groups for the token, or, if there are none, of all groups for `*`.
    static func rules(of file: [UInt8], for token: String) -> RobotsRules {
        var reader = GroupReader(token: productToken(Array(token.utf8)))
        for line in lines(file) { reader.read(line) }
        return RobotsRules(reader.own ?? reader.general)
    }

    /// Returns the lines of a file, which end with CR, LF, or both; without a line that the limit cuts off.
    private static func lines(_ file: [UInt8]) -> [ArraySlice<UInt8>] {
        var content = file.prefix(limit)
        if content.count < file.count {
            content = content.lastIndex { $0.isLineBreak }.map { content[...$0] } ?? []
        }
        if content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }
        return content.split { $0.isLineBreak }
    }

    /// Returns the product token at the beginning of `name`, in lowercase, without a version.
    fileprivate static func productToken(_ name: some Sequence<UInt8>) -> String {
        String(decoding: name.prefix { $0.isRobotsTokenCharacter }, as: UTF8.self).lowercased()
    }
}

/// Collects the rules of a file that concern a crawler, line by line.
private struct GroupReader {
    let token: String
    /// The rules of the groups for the token; `nil` if there is no such group.
    private(set) var own: [RobotsRules.Rule]?
    /// The rules of the groups for `*`.
    private(set) var general: [RobotsRules.Rule] = []
    private var isOwn = false
    private var isGeneral = false
    /// A Boolean value that indicates whether the group has rules, so that the next name begins another one.
    private var hasRules = false

    init(token: String) {
        self.token = token
    }

    mutating func read(_ line: ArraySlice<UInt8>) {
        let line = line.prefix { $0 != UInt8(ascii: "#") }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let value = line[(colon + 1)...].trimmed
        switch String(decoding: line[..<colon].trimmed, as: UTF8.self).lowercased() {
        case "user-agent": beginGroup(value)
        case "allow": add(value, isAllowing: true)
        case "disallow": add(value, isAllowing: false)
        // Other lines, such as Sitemap, belong to no group and end none.
        default: break
        }
    }

    private mutating func beginGroup(_ name: ArraySlice<UInt8>) {
        if hasRules {
            isOwn = false
            isGeneral = false
            hasRules = false
        }
        if name.elementsEqual("*".utf8) {
            isGeneral = true
        } else if !token.isEmpty, RobotsFile.productToken(name) == token {
            isOwn = true
            own = own ?? []
        }
    }

    private mutating func add(_ value: ArraySlice<UInt8>, isAllowing: Bool) {
        hasRules = true
        // A rule without a path matches nothing.
        guard !value.isEmpty, isOwn || isGeneral else { return }
        let rule = RobotsRules.Rule(isAllowing: isAllowing, pattern: RobotsPattern(value))
        if isOwn { own?.append(rule) }
        if isGeneral { general.append(rule) }
    }
}

extension UInt8 {
    fileprivate var isLineBreak: Bool { self == 0x0A || self == 0x0D }

    /// A Boolean value that indicates whether the octet can be part of a product token; digits are not allowed by RFC
    /// 9309, but common.
    var isRobotsTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension ArraySlice<UInt8> {
    /// The octets without blanks around them.
    fileprivate var trimmed: ArraySlice<UInt8> {
        let tail = drop { $0.isBlank }
        return tail.lastIndex { !$0.isBlank }.map { tail[...$0] } ?? []
    }
}
