import Foundation

/// The sources of a module, and which of them depend on which.
struct Module {
    /// A type of the module that is named in a file of another folder than its own.
    struct Dependency: Hashable {
        /// The file that names it.
        let file: String
        let folder: String
        let type: String
        /// The folder whose file declares it.
        let target: String
    }

    let name: String
    let files: [SourceFile]

    /// Creates the module from its folder in `Sources`.
    init(_ name: String) throws {
        let folder = Self.package + "/Sources/" + name
        guard let paths = FileManager.default.enumerator(atPath: folder) else { throw Missing(folder: folder) }
        self.init(
            name,
            try paths.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted().map { path in
                (path, try String(contentsOfFile: folder + "/" + path, encoding: .utf8))
            })
    }

    /// Creates a module from sources and their paths below its folder.
    init(_ name: String, _ sources: [(path: String, source: String)]) {
        self.name = name
        files = sources.map { path, source in
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            return SourceFile(source, path: "Sources/\(name)/\(path)", folder: folder)
        }
    }

    struct Missing: Error {
        let folder: String
    }

    /// The folder of the package.
    static let package = #filePath.components(separatedBy: "/Tests/")[0]

    /// The names of the modules in `Sources`.
    static func all() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: package + "/Sources").sorted()
    }

    /// Every type that is named outside of its folder.
    var dependencies: Set<Dependency> {
        var declared: [String: [SourceFile]] = [:]
        for file in files {
            for type in file.types { declared[type, default: []].append(file) }
        }
        /// The names of the types inside of each type.
        var nested: [String: Set<String>] = [:]
        for type in declared.keys {
            guard let dot = type.lastIndex(of: ".") else { continue }
            nested[String(type[..<dot]), default: []].insert(String(type[type.index(after: dot)...]))
        }
        var result: Set<Dependency> = []
        for file in files {
            let hidden = file.contexts.reduce(into: file.ownNames) { $0.formUnion(nested[$1] ?? []) }
            for name in file.names {
                let outermost = name.prefix { $0 != "." }
                guard !hidden.contains(String(outermost)) else { continue }
                for owner in declared[name] ?? [] where owner.folder != file.folder {
                    result.insert(
                        Dependency(file: file.path, folder: file.folder, type: name, target: owner.folder))
                }
            }
        }
        return result
    }
}
