import FoundationEssentials

/// The files that the origin serves and the decoders read, which are created when first requested, then kept.
///
/// The name of a file contains all its parameters and identifies the same file on every machine.
struct FixtureFolder: Codable, Sendable {
    let path: String

    /// Creates the folder if it does not exist.
    init(path: String) throws {
        self.path = path
        try File.createFolder(path)
    }

    /// The path of the default folder, in the user's cache folder.
    static var defaultPath: String {
        let environment = ProcessInfo.processInfo.environment
        let caches = environment["XDG_CACHE_HOME"] ?? environment["HOME"].map { $0 + "/.cache" } ?? "/tmp"
        return caches + "/async-web-image-benchmarks"
    }

    /// Returns the path of the file `name`, which is created with the bytes of `make` if it does not exist.
    func file(_ name: String, make: () throws -> [UInt8]) throws -> String {
        let path = "\(self.path)/\(name)"
        if !File.exists(path) { try File.write(make(), to: path) }
        return path
    }
}
