import WebimageConsole

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Where images are written: whole or not at all, and never over another file.
///
/// A file is written without a name, or under a temporary one, and then named with the first free name: that fails if
/// somebody else took the name meanwhile, so no list of names is kept.
struct OutputFolder: Sendable {
    let path: String
    let calls: FileCalls

    /// Makes the folder, and those it is in, if there is none, and removes what killed processes have left there.
    ///
    /// Throws if that cannot be done or nothing can be written there.
    init(path: String, calls: FileCalls = FileCalls()) throws(FileError) {
        self.path = path.isEmpty ? "." : path
        self.calls = calls
        guard Self.makeFolder(self.path[...]) else { throw FileError("make the folder", self.path) }
        var status = stat()
        guard unsafe stat(self.path, &status) == 0 else { throw FileError("write to the folder", self.path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw FileError("write to the folder", self.path, code: ENOTDIR)
        }
        guard unsafe access(self.path, W_OK | X_OK) == 0 else { throw FileError("write to the folder", self.path) }
        TemporaryName.removeLeftovers(in: self)
    }

    /// Makes `path` and what is missing on the way there; false, with the reason in `errno`, if it cannot.
    ///
    /// No deeper than paths may be long: the system has another answer to one that is longer.
    private static func makeFolder(_ path: Substring) -> Bool {
        if unsafe mkdir(String(path), 0o777) == 0 || errno == EEXIST { return true }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return false }
        guard makeFolder(path[..<slash]) else { return false }
        return unsafe mkdir(String(path), 0o777) == 0 || errno == EEXIST
    }

    /// A file to be written here, whose place is found later.
    func makeFile() -> UnfinishedFile { UnfinishedFile(in: self) }

    /// The path that a file of this name has if it is free.
    func path(of name: FileName) -> String { file(name.numbered(1)) }

    /// Writes `bytes` under the first free name of `name`, `name-2` and so on, and returns the path.
    func write(_ bytes: [UInt8], as name: FileName) throws(FileError) -> String {
        let file = makeFile()
        file.label = path(of: name)
        try file.append(bytes)
        return try file.place(as: name)
    }

    /// The path of the first free name.
    ///
    /// Doubles its steps and then halves the interval, so that the ten-thousandth namesake costs as much as the tenth.
    func firstFreePath(for name: FileName) -> String {
        // A link is taken, too, wherever it leads.
        func isTaken(_ number: Int) -> Bool {
            var info = stat()
            return unsafe lstat(file(name.numbered(number)), &info) == 0
        }
        guard isTaken(1) else { return file(name.numbered(1)) }
        var (taken, free) = (1, 2)
        while free < 1 << 40, isTaken(free) { (taken, free) = (free, free * 2) }
        while free - taken > 1 {
            let middle = (taken + free) / 2
            if isTaken(middle) { taken = middle } else { free = middle }
        }
        return file(name.numbered(free))
    }

    /// The path of a file here.
    func file(_ name: String) -> String { path == "." ? name : "\(path)/\(name)" }
}
