import WebimageConsole

import Glibc

/// A list from which this process makes shards; a process that has ended makes none.
struct ShardList: ~Copyable, Sendable {
    /// The path of the file that describes the list.
    let path: String
    /// The number of the first shard of the list.
    let firstShard: Int
    /// The number of the first shard of the list that was added after this one; `nil` if there is none.
    var nextList: Int?
    private let descriptor: Int32

    /// Locks the file that describes a list together with all other processes that make shards from it.
    init(path: String, firstShard: Int) throws(FileError) {
        let opened = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard opened >= 0 else { throw FileError("read", path) }
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        guard unsafe fcntl(opened, F_SETLK, &lock) == 0 else {
            let failure = FileError("lock", path)
            close(opened)
            throw failure
        }
        (self.path, self.firstShard, descriptor) = (path, firstShard, opened)
    }

    deinit { close(descriptor) }

    /// Returns whether another process makes shards from the list that the file at `path` describes.
    static func isInUse(path: String) throws(FileError) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return false }
        guard descriptor >= 0 else { throw FileError("read", path) }
        defer { close(descriptor) }
        // Asks only: a lock, even a brief one, would be found by others that ask.
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        guard unsafe fcntl(descriptor, F_GETLK, &lock) == 0 else { throw FileError("lock", path) }
        return lock.l_type != Int16(F_UNLCK)
    }
}
