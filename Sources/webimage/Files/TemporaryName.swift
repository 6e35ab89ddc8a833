import Synchronization

import Glibc

private typealias FolderStream = OpaquePointer

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
        guard let stream = unsafe opendir(folder.path) else { return }
        defer { unsafe closedir(stream) }
        // The files are used by the descriptor of the folder, whose path can lead elsewhere in the meantime.
        let opened = unsafe dirfd(stream)
        for name in unsafe names(in: stream) {
            guard let process = process(of: name), kill(process, 0) != 0, errno == ESRCH else { continue }
            let descriptor = unsafe openat(opened, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_uid == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0
            else { continue }
            unsafe unlinkat(opened, name, 0)
        }
    }

    /// Opens a new file of a name that only this process uses; returns the negative error code on failure.
    ///
    /// A file of that name is what a killed process with the same number has left, and is removed, unless it belongs to
    /// another user: it may be a link to a file that must not be changed.
    static func openNew(_ path: String, mode: mode_t = 0o666) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        var descriptor = unsafe open(path, flags, mode)
        if descriptor < 0, errno == EEXIST {
            var status = stat()
            guard unsafe lstat(path, &status) == 0, status.st_uid == geteuid(), unsafe unlink(path) == 0 else {
                return -EEXIST
            }
            descriptor = unsafe open(path, flags, mode)
        }
        return descriptor < 0 ? -errno : descriptor
    }

    /// Returns the names in a folder that begin like temporary ones.
    private static func names(in stream: FolderStream) -> [String] {
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
