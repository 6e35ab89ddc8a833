import FoundationEssentials

/// The files that the origin serves and the decoders read: made when they are first asked for, then kept.
///
/// They are the same on every machine, so that a name, which contains all parameters, identifies one.
struct FixtureFolder: Codable, Sendable {
    let path: String

    /// The folder is created if need be.
    init(path: String) throws {
        self.path = path
        try File.createFolder(path)
    }

    /// In the user's cache folder.
    static var defaultPath: String {
        let environment = ProcessInfo.processInfo.environment
        let caches = environment["XDG_CACHE_HOME"] ?? environment["HOME"].map { $0 + "/.cache" } ?? "/tmp"
        return caches + "/async-web-image-benchmarks"
    }

    /// The path of the file `name`, which `make` makes unless it is there.
    func file(_ name: String, make: () throws -> [UInt8]) throws -> String {
        let path = "\(self.path)/\(name)"
        if !File.exists(path) { try File.write(make(), to: path) }
        return path
    }
}
