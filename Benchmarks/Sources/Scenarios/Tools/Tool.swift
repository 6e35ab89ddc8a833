import FoundationEssentials

/// A program that is measured or needed for measuring, and its path.
struct Tool: Hashable, Sendable {
    let path: String

    /// One that is installed; the environment's `variable`, if it has one, says where instead.
    ///
    /// Throws `NotInstalled` if it is not there.
    init(_ name: String, variable: String? = nil) throws(NotInstalled) {
        if let variable, let path = ProcessInfo.processInfo.environment[variable] {
            guard File.exists(path) else {
                throw NotInstalled(description: "nothing is at \(path), where \(variable) says it is")
            }
            self.path = path
        } else if let path = Self.installed(name) {
            self.path = path
        } else {
            let remedy = variable.map { "; if it is, \($0)=PATH says where" } ?? ""
            throw NotInstalled(description: "not installed" + remedy)
        }
    }

    /// Throws `NotInstalled`, which names a remedy, if there is no such file.
    init(at path: String, remedy: String) throws(NotInstalled) {
        guard File.exists(path) else { throw NotInstalled(description: remedy) }
        self.path = path
    }

    /// The first of that name in the path.
    static func installed(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        // The last two are left out of many people's paths.
        return (folders + ["/usr/sbin", "/usr/local/sbin"]).map { $0 + "/" + name }.first { File.exists($0) }
    }
}

/// A missing tool, and the remedy.
struct NotInstalled: Error, CustomStringConvertible {
    let description: String
}
