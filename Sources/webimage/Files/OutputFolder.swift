import Threading
import WebimageConsole

import Glibc

/// The folder for images, which are written completely or not at all, and never replace another file.
///
/// A file is written without a name, or with a temporary one, and then given the first free name. Naming fails if the
/// name is taken, also by another process, so no list of names is needed.
struct OutputFolder: Sendable {
    let path: String
    let calls: FileCalls
    /// The paths of the folders that did not exist, from the highest one down.
    private let created: [String]
    private let duplicates = Locked(DuplicateNames())

    /// Creates the folder and its parents if necessary, and removes leftover files of killed processes.
    ///
    /// Throws an error if that fails or the folder is not writable.
    init(path: String, calls: FileCalls = FileCalls()) throws(FileError) {
        self.path = path.isEmpty ? "." : path
        self.calls = calls
        var created: [String] = []
        guard Self.makeFolder(self.path[...], &created) else {
            let error = FileError("create the folder", self.path)
            Self.removeEmpty(created)
            throw error
        }
        self.created = created
        var status = stat()
        guard unsafe stat(self.path, &status) == 0 else { throw FileError("write to the folder", self.path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw FileError("write to the folder", self.path, code: ENOTDIR)
        }
        guard unsafe access(self.path, W_OK | X_OK) == 0 else { throw FileError("write to the folder", self.path) }
        TemporaryName.removeLeftovers(in: self)
    }

    /// Creates `path` and its missing parents, and adds them to `created`; returns `false`, with the reason in `errno`,
    /// on failure.
    ///
    /// The depth is limited by the maximum length of paths, which the system checks.
    private static func makeFolder(_ path: Substring, _ created: inout [String]) -> Bool {
        if unsafe mkdir(String(path), 0o777) == 0 {
            created.append(String(path))
            return true
        }
        if errno == EEXIST { return true }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return false }
        guard makeFolder(path[..<slash], &created) else { return false }
        guard unsafe mkdir(String(path), 0o777) == 0 else { return errno == EEXIST }
        created.append(String(path))
        return true
    }

    /// Removes the folders that this value has created, as far as they are empty.
    func removeIfEmpty() { Self.removeEmpty(created) }

    private static func removeEmpty(_ folders: [String]) {
        for path in folders.reversed() where unsafe rmdir(path) != 0 && errno != ENOENT { return }
    }

    /// Creates the folder again, if another process has removed it because it had created it and written nothing;
    /// returns `false` on failure.
    func restore() -> Bool {
        var created: [String] = []
        return Self.makeFolder(path[...], &created)
    }

    /// The folder for temporary files of the system, which is used only for large images.
    static var temporary: OutputFolder { OutputFolder(existing: temporaryPath) }

    /// The path of the folder for temporary files of the system.
    static var temporaryPath: String {
        let path = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? ""
        return path.isEmpty ? "/tmp" : path
    }

    private init(existing path: String) {
        (self.path, calls, created) = (path, FileCalls(), [])
    }

    /// Returns a file to be written to this folder and named later.
    func makeFile() -> UnfinishedFile { UnfinishedFile(in: self) }

    /// Returns the path that a file with this name has if the name is free.
    func path(of name: FileName) -> String { file(name.numbered(1)) }

    /// Writes `bytes` under the first free name of `name`, `name-2`, and so on, and returns the path.
    func write(_ bytes: [UInt8], as name: FileName) throws(FileError) -> String {
        let file = makeFile()
        file.label = path(of: name)
        try file.append(bytes)
        return try file.place(as: name)
    }

    /// Returns the number of `name` to try first: 1, unless files of this folder are known to have it.
    func firstNumber(for name: FileName) -> Int {
        duplicates.withLock { $0.next(name.numbered(1)) }
    }

    /// Returns the first free number of `name` after one that is taken.
    ///
    /// Doubles its steps and then bisects, so that the cost grows only logarithmically with the number of duplicates.
    func freeNumber(for name: FileName, after number: Int) -> Int {
        // A symbolic link is taken, too, regardless of its target.
        func isTaken(_ number: Int) -> Bool {
            var info = stat()
            return unsafe lstat(file(name.numbered(number)), &info) == 0
        }
        var (taken, free) = (number, number + 1)
        while free < 1 << 40, isTaken(free) { (taken, free) = (free, free + 2 * (free - taken)) }
        while free - taken > 1 {
            let middle = (taken + free) / 2
            if isTaken(middle) { taken = middle } else { free = middle }
        }
        return free
    }

    /// Records that a file has been given a number of `name`.
    func take(_ number: Int, of name: FileName) {
        duplicates.withLock { $0.take(number, of: name.numbered(1)) }
    }

    /// Returns the path of a file in this folder.
    func file(_ name: String) -> String {
        path == "." ? name : path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    }
}
