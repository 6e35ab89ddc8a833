#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The folder of a cache.
struct CacheFolder: Sendable {
    struct File {
        let name: String
        let size: Int
        /// The time of the last use, in seconds since 1970.
        let usedAt: Int
    }

    let path: String
    /// Statistics of reads and writes; used only by tests.
    private let traffic: FileIOStatistics?

    /// Opens the folder at `path`, created if necessary, accessible only to its owner.
    init(path: String, traffic: FileIOStatistics? = nil) throws(FileFailure) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += made.isEmpty || made.hasSuffix("/") ? String(part) : "/" + part
            if unsafe mkdir(made, 0o700) != 0, errno != EEXIST, errno != EISDIR, errno != EROFS { throw .last }
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .last }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FileFailure(code: ENOTDIR) }
        self.path = path
        self.traffic = traffic
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    /// Opens a file for reading.
    func open(_ name: String) throws(FileFailure) -> OpenFile {
        try OpenFile(reading: path(of: name), traffic: traffic)
    }

    /// Opens a file for reading and writing.
    func openForUpdate(_ name: String) throws(FileFailure) -> OpenFile {
        try OpenFile(updating: path(of: name), traffic: traffic)
    }

    /// Creates a file, accessible only to its owner.
    func create(_ name: String) throws(FileFailure) -> OpenFile {
        try OpenFile(creating: path(of: name), traffic: traffic)
    }

    func rename(_ temporary: String, to name: String) throws(FileFailure) {
        // Glibc's function, which replaces an existing file atomically.
        if unsafe renameat(AT_FDCWD, path(of: temporary), AT_FDCWD, path(of: name)) != 0 { throw .last }
    }

    func remove(_ name: String) { _ = unsafe unlink(path(of: name)) }

    /// Returns whether a file with this name exists.
    func has(_ name: String) -> Bool { unsafe access(path(of: name), F_OK) == 0 }

    /// The files in the folder, unordered; files that vanish in the meantime are omitted.
    var files: [File] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var files: [File] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            var status = stat()
            guard name != ".", name != "..", unsafe lstat(path(of: name), &status) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { continue }
            #if canImport(Darwin)
            let usedAt = Int(status.st_mtimespec.tv_sec)
            #else
            let usedAt = Int(status.st_mtim.tv_sec)
            #endif
            files.append(File(name: name, size: Int(status.st_size), usedAt: usedAt))
        }
        return files
    }
}

extension CacheFolder {
    private static let temporaryPrefix = "new-"

    static func isTemporary(_ name: String) -> Bool { name.hasPrefix(temporaryPrefix) }

    /// Returns a unique name.
    static func temporaryName() -> String {
        "\(temporaryPrefix)\(getpid())-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    }
}
