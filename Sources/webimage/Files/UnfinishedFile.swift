import WebimageConsole

import Glibc

/// A file of an ``OutputFolder`` that is being written and has no final name yet.
///
/// It has no name or, if the file system does not support unnamed files, a temporary one in the same folder. It is
/// removed when it is released without having been placed. Small files are opened only when they are complete, so
/// that many concurrent ones take no descriptors. Not `Sendable`: use a file from one task only. Its methods block.
final class UnfinishedFile {
    /// The number of bytes buffered in memory before they are written.
    static let bufferSize = 128 << 10

    /// The label in messages: the intended path, or the folder until that is known.
    var label: String
    private let folder: OutputFolder
    private var buffer: [UInt8] = []
    /// The descriptor; negative before anything is written.
    private var descriptor: Int32 = -1
    /// The temporary path; `nil` while the file has no name.
    private var temporaryPath: String?
    /// The number of bytes so far.
    private(set) var count = 0
    /// A Boolean value that indicates whether the file has been read, so that its position is not at the end.
    private var hasBeenRead = false

    init(in folder: OutputFolder) {
        self.folder = folder
        label = folder.path
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if let temporaryPath { unsafe unlink(temporaryPath) }
    }

    /// Appends `bytes`.
    func append(_ bytes: [UInt8]) throws(FileError) {
        count += bytes.count
        if buffer.isEmpty, bytes.count >= Self.bufferSize {
            try write(bytes)
        } else {
            buffer += bytes
            if buffer.count >= Self.bufferSize { try flush() }
        }
    }

    /// Starts over, discarding everything appended so far.
    func truncate() throws(FileError) {
        (buffer, count) = ([], 0)
        guard descriptor >= 0 else { return }
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw failure("write", label, errno)
        }
        hasBeenRead = false
    }

    /// Returns the file for reading; after something is appended, its reader is at the end.
    func pieces() throws(FileError) -> FilePieces {
        try flush()
        guard lseek(descriptor, 0, SEEK_SET) >= 0 else { throw FileError("read", label) }
        hasBeenRead = true
        return FilePieces(ImageFile(borrowing: descriptor), of: self)
    }

    /// Returns all bytes; nothing may be appended afterward.
    func contents() throws -> [UInt8] {
        // Small files are in memory.
        if descriptor < 0 { return buffer }
        try flush()
        guard lseek(descriptor, 0, SEEK_SET) >= 0 else { throw FileError("read", label) }
        hasBeenRead = true
        return try ImageFile(borrowing: descriptor).bytes(limit: count, capacity: count)
    }

    /// Gives the file the first free name of `name`, `name-2`, and so on, and returns its path.
    ///
    /// Call this method once.
    func place(as name: FileName) throws(FileError) -> String {
        try flush()
        var number = folder.firstNumber(for: name)
        while true {
            let path = folder.file(name.numbered(number))
            let status = place(at: path)
            if status == 0 {
                temporaryPath = nil
                folder.take(number, of: name)
                return path
            }
            guard status == -EEXIST else { throw failure("create", path, -status) }
            number = folder.freeNumber(for: name, after: number)
        }
    }

    /// Gives the file the name `path`; returns `false` if it is taken, unless the file there is to be replaced.
    ///
    /// Call this method once.
    func place(at path: String, replacing: Bool) throws(FileError) -> Bool {
        try flush()
        var status = place(at: path)
        if status == -EEXIST, replacing {
            keepMode(of: path)
            status = temporaryPath == nil ? nameTemporarily() : 0
            if FileCalls.isUnsupported(status) { status = moveToTemporary() ?? 0 }
            if status == 0, let temporaryPath { status = folder.calls.rename(temporaryPath, path) }
        }
        if status == -EEXIST { return false }
        guard status == 0 else { throw failure("create", path, -status) }
        temporaryPath = nil
        return true
    }

    /// Gives the file the permissions of the one that it replaces, as far as possible.
    private func keepMode(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return }
        _ = fchmod(descriptor, status.st_mode & 0o7777)
    }

    /// Gives the unnamed file a temporary name; returns the status of the call.
    private func nameTemporarily() -> Int32 {
        while true {
            let path = folder.file(TemporaryName.next())
            let status = folder.calls.nameUnnamed(descriptor, path)
            if status == 0 { temporaryPath = path }
            // The name of a killed process that had the same number.
            guard status == -EEXIST else { return status }
        }
    }

    private func flush() throws(FileError) {
        let bytes = buffer
        buffer = []
        try write(bytes)
    }

    private func write(_ bytes: [UInt8]) throws(FileError) {
        if descriptor < 0 { try open() }
        if hasBeenRead {
            guard lseek(descriptor, 0, SEEK_END) >= 0 else { throw failure("write", label, errno) }
            hasBeenRead = false
        }
        let status = folder.calls.write(bytes, descriptor)
        guard status == 0 else { throw failure("write", label, -status) }
    }

    private func open() throws(FileError) {
        descriptor = restoringFolder { folder.calls.openUnnamed(folder.path) }
        if descriptor < 0 { try openTemporary() }
    }

    /// Returns the status of a call, which is repeated if the folder was missing but could be restored.
    private func restoringFolder(_ call: () -> Int32) -> Int32 {
        let status = call()
        return status == -ENOENT && folder.restore() ? call() : status
    }

    /// Opens a file with a temporary name; the lock tells other processes that the file is in use.
    private func openTemporary() throws(FileError) {
        var path: String
        var opened: Int32
        repeat {
            path = folder.file(TemporaryName.next())
            opened = restoringFolder { folder.calls.openNew(path) }
            // The name of a killed process that had the same number.
        } while opened == -EEXIST
        guard opened >= 0 else { throw failure("create", label, -opened) }
        _ = flock(opened, LOCK_EX | LOCK_NB)
        descriptor = opened
        temporaryPath = path
    }

    /// Places the file at `path`; returns the status of the call: `-EEXIST` if the name is taken.
    private func place(at path: String) -> Int32 {
        if temporaryPath == nil {
            let status = restoringFolder { folder.calls.nameUnnamed(descriptor, path) }
            guard FileCalls.isUnsupported(status) else { return status }
            if let failure = moveToTemporary() { return failure }
        }
        guard let temporaryPath else { return -ENOENT }
        return folder.calls.moveIfFree(temporaryPath, to: path)
    }

    /// Copies an unnamed file that cannot be named to a temporary one; returns the error code on failure.
    private func moveToTemporary() -> Int32? {
        let unnamed = descriptor
        defer { close(unnamed) }
        do throws(FileError) {
            descriptor = -1
            guard lseek(unnamed, 0, SEEK_SET) == 0 else { return -errno }
            try openTemporary()
            while true {
                let block = try FileDescriptor.read(64 << 10, from: unnamed, named: label)
                if block.isEmpty { return nil }
                try write(block)
            }
        } catch {
            return -error.code
        }
    }

    private func failure(_ action: String, _ path: String, _ code: Int32) -> FileError {
        var error = FileError(action, path, code: code)
        error.endsRun = [ENOSPC, EDQUOT, EROFS, EIO].contains(code)
        return error
    }
}
