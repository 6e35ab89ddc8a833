import WebimageConsole

import Glibc

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
            do throws(FileError) {
                if try Self.lock(opened, at: path) {
                    descriptor = opened
                    return
                }
            } catch {
                close(opened)
                if error.code == EWOULDBLOCK { return nil }
                throw error
            }
            close(opened)
        }
    }

    /// Locks an open file; returns `false` if it is no longer the one at `path`.
    ///
    /// The process that had the lock may have removed the file, and another one may have made and locked the next.
    /// Throws `EWOULDBLOCK` if another process has the lock.
    static func lock(_ descriptor: Int32, at path: String) throws(FileError) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR else { throw FileError("lock", path) }
        }
        return isSameFile(descriptor, path)
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
