import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The names of files being written: `.webimage-`, the process, `-`, a number, `.part`.
enum TemporaryName {
    private static let numbers = Atomic<Int>(0)

    /// Returns a name that this process has not used yet.
    static func next() -> String {
        ".webimage-\(getpid())-\(numbers.add(1, ordering: .relaxed).newValue).part"
    }

    /// Returns the process that created a file with this name; `nil` if it is not a temporary name.
    static func process(of name: String) -> pid_t? {
        let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual(".webimage".utf8),
            let process = number(parts[1]), let end = String(parts[2]), end.hasSuffix(".part"),
            number(end.utf8.dropLast(5)) != nil
        else { return nil }
        return pid_t(exactly: process)
    }

    /// Parses an integer as this process writes it: digits only.
    private static func number(_ digits: Substring.UTF8View) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(String(Substring(digits)))
    }

    /// Removes leftover files of killed processes in `folder`.
    ///
    /// Removes only regular files of this user with exactly such a name whose process no longer exists, and which no
    /// process on any machine has locked for writing.
    static func removeLeftovers(in folder: OutputFolder) {
        for name in names(in: folder.path) {
            guard let process = process(of: name), kill(process, 0) != 0, errno == ESRCH else { continue }
            let path = folder.file(name)
            let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_uid == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0
            else { continue }
            unsafe unlink(path)
        }
    }

    /// Returns the names in a folder that begin like temporary ones; none if the folder is not readable.
    private static func names(in folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.hasPrefix(".webimage-") { names.append(name) }
        }
        return names
    }
}
