import FoundationEssentials

/// A program that is measured or needed for measuring, and its path.
struct Tool: Hashable, Sendable {
    let path: String

    /// Creates a tool with the path in the environment variable `variable`, or that of an installed program.
    ///
    /// Throws `NotInstalled` if it does not exist.
    init(_ name: String, variable: String? = nil) throws(NotInstalled) {
        if let variable, let path = ProcessInfo.processInfo.environment[variable] {
            guard File.exists(path) else {
                throw NotInstalled(description: "\(variable) is \(path), which does not exist")
            }
            self.path = path
        } else if let path = Self.installed(name) {
            self.path = path
        } else {
            let remedy = variable.map { "; if it is, \($0)=PATH says where" } ?? ""
            throw NotInstalled(description: "not installed" + remedy)
        }
    }

    /// Creates a tool with the path `path`.
    ///
    /// Throws `NotInstalled` with the description `remedy` if there is no such file.
    init(at path: String, remedy: String) throws(NotInstalled) {
        guard File.exists(path) else { throw NotInstalled(description: remedy) }
        self.path = path
    }

    /// Returns the path of the first program with this name in the folders of `PATH`, or `nil` if there is none.
    static func installed(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        // The `PATH` of many users lacks the last two.
        return (folders + ["/usr/sbin", "/usr/local/sbin"]).map { $0 + "/" + name }.first { File.exists($0) }
    }
}

/// The error when a tool does not exist.
struct NotInstalled: Error, CustomStringConvertible {
    let description: String
}
