/// The kind of an entry: a whole body, or only its beginning.
package enum EntryKind: Sendable, CaseIterable {
    case whole
    case part

    private var suffix: String {
        switch self {
        case .whole: ""
        case .part: ".part"
        }
    }

    /// Creates the kind of an entry from its name: 32 digits, a hyphen, 16 digits, and the suffix of the kind; returns
    /// `nil` for other names.
    init?(_ name: String) {
        let kind = name.hasSuffix(EntryKind.part.suffix) ? EntryKind.part : .whole
        guard name.utf8.count == 49 + kind.suffix.utf8.count else { return nil }
        let isName = name.utf8.prefix(49).enumerated().allSatisfy { index, byte in
            index == 32 ? byte == 0x2D : (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
        }
        guard isName else { return nil }
        self = kind
    }

    /// The first bytes of a file of this kind, which include the version of the format.
    var magic: [UInt8] {
        switch self {
        case .whole: Array("awicach5".utf8)
        case .part: Array("awicprt5".utf8)
        }
    }

    /// Returns the name of an entry of this kind, given that of the whole one.
    func name(_ whole: String) -> String { whole + suffix }

    /// Returns the names of the entries of all kinds, given that of the whole one.
    static func names(_ whole: String) -> [String] { allCases.map { $0.name(whole) } }

    /// Returns the name of the whole entry, given that of one of any kind.
    static func wholeName(of name: String) -> String {
        EntryKind(name).map { String(name.dropLast($0.suffix.count)) } ?? name
    }
}
