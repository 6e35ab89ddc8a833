import FoundationEssentials
import Glibc

/// File operations whose errors name the file and the reason.
enum File {
    static func read(_ path: String) throws(FileError) -> [UInt8] {
        try attempt("read", path) { Array(try Data(contentsOf: URL(filePath: path))) }
    }

    /// Replaces the file atomically.
    static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
        try attempt("write", path) { try Data(bytes).write(to: URL(filePath: path), options: .atomic) }
    }

    static func append(_ bytes: [UInt8], to path: String) throws(FileError) {
        try write(try read(path) + bytes, to: path)
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
    }

    /// Returns a Boolean value that indicates whether the file belongs to this process's user.
    static func isOwnedByThisProcess(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_uid == geteuid()
    }

    static func createFolder(_ path: String) throws(FileError) {
        try attempt("create", path) {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
    }

    /// Removes a file, or a folder with its content, if it exists.
    static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the names of the files and folders in a folder.
    static func names(in folder: String) throws(FileError) -> [String] {
        try attempt("list", folder) { try FileManager.default.contentsOfDirectory(atPath: folder) }
    }

    private static func attempt<Result>(
        _ action: String, _ path: String, _ body: () throws -> Result
    ) throws(FileError) -> Result {
        do {
            return try body()
        } catch {
            throw FileError(action: action, path: path, cause: error)
        }
    }
}

/// The error when a file operation fails.
struct FileError: Error, CustomStringConvertible {
    let description: String

    init(action: String, path: String, cause: any Error) {
        let code = ((cause as? CocoaError)?.underlying as? POSIXError)?.code
        let reason = code.map { unsafe String(cString: strerror($0.rawValue)) } ?? "\(cause)"
        description = "cannot \(action) \(path): \(reason)"
    }
}
