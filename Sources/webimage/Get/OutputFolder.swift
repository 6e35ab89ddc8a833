import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Where images are written: whole or not at all, and never over another file.
///
/// A file is written under a temporary name beside its place and then linked to the first free name: the link fails if
/// somebody else took the name meanwhile, so no list of names is kept.
struct OutputFolder: Sendable {
    let path: String

    private static let temporaryNames = Atomic<Int>(0)

    /// Makes the folder, and those it is in, if there is none.
    ///
    /// Throws if that cannot be done or nothing can be written there.
    init(path: String) throws(FileError) {
        self.path = path.isEmpty ? "." : path
        guard Self.makeFolder(self.path[...]) else { throw FileError("make the folder", self.path) }
        guard unsafe access(self.path, W_OK | X_OK) == 0 else { throw FileError("write to the folder", self.path) }
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

    /// Writes `bytes` under the first free name of `name`, `name-2` and so on, and returns the path.
    func write(_ bytes: [UInt8], as name: FileName) throws(FileError) -> String {
        let temporary = try writeTemporary(bytes)
        defer { unsafe unlink(temporary) }
        while true {
            let final = file(name.numbered(firstFreeNumber(for: name)))
            if unsafe link(temporary, final) == 0 { return final }
            switch errno {
            case EEXIST: continue
            case EPERM, EOPNOTSUPP, ENOTSUP, EMLINK:
                // A file system without hard links: reserve the name, then replace what reserves it.
                let descriptor = unsafe open(final, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
                if descriptor < 0, errno == EEXIST { continue }
                guard descriptor >= 0 else { throw FileError("create", final) }
                close(descriptor)
                guard unsafe rename(temporary, final) == 0 else {
                    let error = FileError("create", final)
                    unsafe unlink(final)
                    throw error
                }
                return final
            default: throw FileError("create", final)
            }
        }
    }

    private func writeTemporary(_ bytes: [UInt8]) throws(FileError) -> String {
        var temporary: String
        var descriptor: Int32
        repeat {
            let number = Self.temporaryNames.add(1, ordering: .relaxed).newValue
            temporary = file(".webimage-\(getpid())-\(number).part")
            descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            // One of a process that was killed, which had the same number.
        } while descriptor < 0 && errno == EEXIST
        guard descriptor >= 0 else { throw FileError("create", temporary) }
        do {
            defer { close(descriptor) }
            try FileDescriptor.write(bytes, to: descriptor, named: temporary)
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        return temporary
    }

    /// Doubles its steps and then halves the interval, so that the ten-thousandth namesake costs as much as the tenth.
    private func firstFreeNumber(for name: FileName) -> Int {
        // A link is taken, too, wherever it leads.
        func isTaken(_ number: Int) -> Bool {
            var info = stat()
            return unsafe lstat(file(name.numbered(number)), &info) == 0
        }
        guard isTaken(1) else { return 1 }
        var (taken, free) = (1, 2)
        while free < 1 << 40, isTaken(free) { (taken, free) = (free, free * 2) }
        while free - taken > 1 {
            let middle = (taken + free) / 2
            if isTaken(middle) { taken = middle } else { free = middle }
        }
        return free
    }

    private func file(_ name: String) -> String { path == "." ? name : "\(path)/\(name)" }
}
