import Glibc

/// An open folder, by whose descriptor its files are used.
///
/// Only the path that a user has chosen may lead through a symbolic link; a link in the folder is never followed. A
/// folder in which another user could place links or files is refused.
final class OpenFolder: Sendable {
    let descriptor: Int32
    private let identity: FileIdentity

    /// Opens the folder at `path`, which can be a link to a folder.
    convenience init(path: String) throws(FileFailure) {
        try self.init(path, in: AT_FDCWD, flags: 0, named: "it")
    }

    /// Opens a folder in another one.
    convenience init(_ name: String, in parent: OpenFolder) throws(FileFailure) {
        try self.init(name, in: parent.descriptor, flags: O_NOFOLLOW, named: name)
    }

    private init(_ path: String, in parent: Int32, flags: Int32, named name: String) throws(FileFailure) {
        let descriptor = unsafe openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)
        guard descriptor >= 0 else {
            let failure = FileFailure.last
            guard flags != 0, failure.code == ENOTDIR || failure.code == ELOOP else { throw failure }
            throw Self.notAFolder(name)
        }
        do throws(FileFailure) {
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
            try Self.requireOwn(status, named: name)
            identity = FileIdentity(status)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Returns whether the folder at `path`, which is not a link, is this one: a folder can be removed and created again.
    func isFolder(at path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && FileIdentity(status) == identity
    }

    /// Throws an error unless `name` is a folder in this one that only its owner can change.
    ///
    /// Takes no file descriptor. Nobody else can change this folder, so what is true now remains true.
    func requireFolder(_ name: String) throws(FileFailure) {
        var status = stat()
        guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw .last }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw Self.notAFolder(name) }
        try Self.requireOwn(status, named: name)
    }

    /// Creates a folder in this one, accessible only to its owner, unless there is one.
    func makeFolder(_ name: String) throws(FileFailure) {
        do throws(FileFailure) {
            try requireFolder(name)
        } catch {
            guard error.code == ENOENT else { throw error }
            if unsafe mkdirat(descriptor, name, 0o700) != 0, errno != EEXIST { throw .last }
            try requireFolder(name)
        }
    }

    /// Throws an error if another user could change the folder.
    private static func requireOwn(_ status: stat, named name: String) throws(FileFailure) {
        // The superuser can change everything anyway.
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw FileFailure(code: EPERM, reason: "\(name) belongs to another user (\(status.st_uid))")
        }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw FileFailure(
                code: EPERM, reason: "other users can write to \(name); take away their permission with chmod go-w")
        }
    }

    private static func notAFolder(_ name: String) -> FileFailure {
        FileFailure(code: ENOTDIR, reason: "\(name) in it is not a folder, or is a symbolic link")
    }

    // MARK: Files

    /// Returns the names of the files in the folder.
    func names() throws(FileFailure) -> [String] {
        // A copy of the descriptor would share the position with it.
        let copy = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw .last }
        guard let stream = unsafe fdopendir(copy) else {
            close(copy)
            throw .last
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Returns the status of a file, which can be a link.
    func status(of path: String) throws(FileFailure) -> stat {
        var status = stat()
        guard unsafe fstatat(descriptor, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw .last }
        return status
    }

    /// Removes a file; returns whether there was one.
    @discardableResult
    func unlink(_ path: String) throws(FileFailure) -> Bool {
        guard unsafe unlinkat(descriptor, path, 0) != 0 else { return true }
        guard errno == ENOENT else { throw .last }
        return false
    }

    /// Gives a file another name, replacing an existing file atomically.
    func rename(_ path: String, to other: String) throws(FileFailure) {
        if unsafe renameat(descriptor, path, descriptor, other) != 0 { throw .last }
    }

    /// Gives a file a second name, unless there is a file of that name.
    func link(_ path: String, to other: String) throws(FileFailure) {
        if unsafe linkat(descriptor, path, descriptor, other, 0) != 0, errno != EEXIST { throw .last }
    }
}
