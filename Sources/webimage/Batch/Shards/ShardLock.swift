import WebimageConsole

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The right of one process to make a shard; a process that has ended holds nothing.
struct ShardLock: ~Copyable, Sendable {
    private let descriptor: Int32
    private let path: String

    /// Takes the lock of a shard; returns `nil` if another process has it.
    init?(path: String) throws(FileError) {
        self.path = path
        while true {
            let opened = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
            guard opened >= 0 else { throw FileError("create", path) }
            if flock(opened, LOCK_EX | LOCK_NB) != 0 {
                let code = errno
                close(opened)
                if code == EINTR { continue }
                if code == EWOULDBLOCK { return nil }
                throw FileError("lock", path, code: code)
            }
            // The process that had it may have removed the file.
            if Self.isSameFile(opened, path) {
                descriptor = opened
                return
            }
            close(opened)
        }
    }

    deinit {
        unsafe unlink(path)
        close(descriptor)
    }

    private static func isSameFile(_ descriptor: Int32, _ path: String) -> Bool {
        var opened = stat()
        var named = stat()
        guard unsafe fstat(descriptor, &opened) == 0, unsafe lstat(path, &named) == 0 else { return false }
        return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
    }
}
