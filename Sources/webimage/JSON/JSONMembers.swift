/// The members of a JSON object by name.
struct JSONMembers: Sendable {
    private let members: [JSONScanner.Member]

    /// Reads an object; returns `nil` if `bytes` is none.
    init?(_ bytes: [UInt8]) {
        guard let members = JSONScanner.members(of: bytes) else { return nil }
        self.members = members
    }

    var names: [String] { members.map(\.name) }

    /// The members that are integers.
    var numbers: [String: Int] {
        members.reduce(into: [:]) { $0[$1.name] = Int(String(decoding: $1.value, as: UTF8.self)) }
    }

    subscript(name: String) -> ArraySlice<UInt8>? { members.first { $0.name == name }?.value }

    func number(_ name: String) -> Int? { self[name].flatMap { Int(String(decoding: $0, as: UTF8.self)) } }

    func text(_ name: String) -> String? { self[name].flatMap { JSONScanner.text(of: $0) } }

    func object(_ name: String) -> JSONMembers? { self[name].flatMap { JSONMembers(Array($0)) } }
}
