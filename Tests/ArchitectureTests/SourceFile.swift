import Foundation

/// The declarations of a Swift source and the names it uses.
struct SourceFile {
    /// The path below the package's folder.
    let path: String
    /// The folder below the module's; empty for the module's own.
    let folder: String
    /// The modules that are imported.
    private(set) var imports: Set<String> = []
    /// The types that other files can name, by their qualified names such as `Outer.Inner`.
    private(set) var types: Set<String> = []
    /// The types that are declared or extended here.
    private(set) var contexts: Set<String> = []
    /// The names that have a meaning only in this file: nested and private types, and generic parameters.
    private(set) var ownNames: Set<String> = []
    /// Every name that may be a type's, with the names behind it: `Outer`, `Outer.Inner`.
    private(set) var names: Set<String> = []

    init(_ source: String, path: String, folder: String) {
        self.path = path
        self.folder = folder
        let tokens = SourceTokens(source).tokens
        readDeclarations(tokens)
        readNames(tokens)
    }

    private mutating func readDeclarations(_ tokens: [SourceTokens.Token]) {
        /// The types around the current position, and the depths of their braces.
        var around: [(name: String, depth: Int, isPrivate: Bool)] = []
        /// The type whose opening brace follows.
        var next: (name: String, isPrivate: Bool)?
        var depth = 0
        var isPrivate = false
        for (index, token) in tokens.enumerated() {
            switch token {
            case .sign("{"):
                depth += 1
                if let type = next { around.append((type.name, depth, type.isPrivate)) }
                next = nil
                isPrivate = false
            case .sign("}"):
                if around.last?.depth == depth { around.removeLast() }
                depth -= 1
                isPrivate = false
            case .name("private"), .name("fileprivate"):
                // Not `private(set)`.
                if tokens.indices.contains(index + 1), tokens[index + 1] != .sign("(") { isPrivate = true }
            case .name("import"):
                // A single declaration can be imported.
                let kinds = ["struct", "enum", "class", "protocol", "actor", "typealias", "func", "var", "let"]
                let isKind = kinds.contains { tokens[index + 1] == .name($0) }
                if case .name(let module) = tokens[index + (isKind ? 2 : 1)] { imports.insert(module) }
            case .name("associatedtype"), .name("func"):
                if case .name(let name) = tokens[index + 1] {
                    if token == .name("associatedtype") { ownNames.insert(name) }
                    readParameters(tokens, from: index + 2)
                }
                isPrivate = false
            case .name("var"), .name("let"), .name("init"), .name("case"): isPrivate = false
            case .name("struct"), .name("enum"), .name("actor"), .name("protocol"), .name("class"), .name("extension"),
                .name("typealias"):
                guard case .name(var name) = tokens[index + 1], !Self.keywords.contains(name) else { continue }
                // A member of that name, or the constraint of a protocol.
                if index > 0, [.sign("."), .sign(":"), .sign(","), .name("import")].contains(tokens[index - 1]) {
                    continue
                }
                var end = index + 2
                while token == .name("extension"), end + 1 < tokens.count, tokens[end] == .sign("."),
                    case .name(let inner) = tokens[end + 1]
                {
                    name += "." + inner
                    end += 2
                }
                readParameters(tokens, from: end)
                let outer = around.last.map { $0.name + "." } ?? ""
                let isHidden = isPrivate || around.contains { $0.isPrivate }
                if token == .name("extension") {
                    contexts.insert(name)
                    next = (name, false)
                } else {
                    let whole = outer + name
                    if isHidden { ownNames.insert(name) } else { types.insert(whole) }
                    if !outer.isEmpty { ownNames.insert(name) }
                    if token != .name("typealias") {
                        contexts.insert(whole)
                        next = (whole, isHidden)
                    }
                }
                isPrivate = false
            default: break
            }
        }
    }

    private static let keywords: Set<String> = ["func", "var", "let", "subscript", "init"]

    /// The generic parameters of a declaration.
    private mutating func readParameters(_ tokens: [SourceTokens.Token], from start: Int) {
        guard tokens.indices.contains(start), tokens[start] == .sign("<") else { return }
        var index = start
        var depth = 0
        while index + 1 < tokens.count {
            if tokens[index] == .sign("<") { depth += 1 }
            if tokens[index] == .sign(">") { depth -= 1 }
            if depth == 0 { return }
            if depth == 1, [.sign("<"), .sign(",")].contains(tokens[index]), case .name(let name) = tokens[index + 1] {
                ownNames.insert(name)
            }
            index += 1
        }
    }

    private mutating func readNames(_ tokens: [SourceTokens.Token]) {
        for (index, token) in tokens.enumerated() {
            guard case .name(var name) = token, name.first?.isUppercase == true else { continue }
            if index > 0, tokens[index - 1] == .sign(".") { continue }
            names.insert(name)
            var next = index + 1
            while next + 1 < tokens.count, tokens[next] == .sign("."), case .name(let inner) = tokens[next + 1],
                inner.first?.isUppercase == true
            {
                name += "." + inner
                names.insert(name)
                next += 2
            }
        }
    }
}
