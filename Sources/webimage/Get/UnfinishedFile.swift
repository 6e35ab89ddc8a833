import WebimageConsole

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A file of an ``OutputFolder`` that is being written and has no place yet.
///
/// It has no name, or, where the file system knows no such files, a temporary one beside its place. It is gone when it is
/// let go without having been placed. Small files are opened only when they are complete, so that many that arrive at a
/// time take no descriptors. Not `Sendable`: one file belongs to one task. Its calls block.
final class UnfinishedFile {
    /// What has come is kept in memory up to this length before it is written.
    private static let bufferSize = 128 << 10

    /// What messages call it: the path it is meant for, or the folder before that is known.
    var label: String
    private let folder: OutputFolder
    private var buffer: [UInt8] = []
    /// Negative before something is written.
    private var descriptor: Int32 = -1
    /// Nil while it has no name.
    private var temporaryPath: String?
    /// Bytes so far.
    private(set) var count = 0
    /// A Boolean value that indicates whether the descriptor stands where the file was read, and not at its end.
    private var hasBeenRead = false

    init(in folder: OutputFolder) {
        self.folder = folder
        label = folder.path
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if let temporaryPath { unsafe unlink(temporaryPath) }
    }

    /// Adds `bytes` at the end.
    func append(_ bytes: [UInt8]) throws(FileError) {
        count += bytes.count
        if buffer.isEmpty, bytes.count >= Self.bufferSize {
            try write(bytes)
        } else {
            buffer += bytes
            if buffer.count >= Self.bufferSize { try flush() }
        }
    }

    /// Begins anew: what was appended is void.
    func truncate() throws(FileError) {
        (buffer, count) = ([], 0)
        guard descriptor >= 0 else { return }
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw failure("write", label, errno)
        }
        hasBeenRead = false
    }

    /// Appends `pieces` until more have come than a file may have before its header, which is `limit`, or all.
    ///
    /// Returns the maximum number of bytes of memory that a search for the header in them takes.
    func appendMetadata(_ pieces: any ImagePieces, limit: Int) async throws -> Int {
        while count <= limit, let piece = try await pieces.next() { try append(piece) }
        pieces.park()
        // An array that grows is there twice for a moment.
        return 2 * count
    }

    /// The file, for reading, and `end` in place of its end; nothing may be appended meanwhile.
    func pieces(end: (any Error)? = nil) throws(FileError) -> FilePieces {
        try flush()
        guard lseek(descriptor, 0, SEEK_SET) >= 0 else { throw FileError("read", label) }
        hasBeenRead = true
        return FilePieces(ImageFile(borrowing: descriptor), of: self, end: end)
    }

    /// Gives the file the first free name of `name`, `name-2` and so on, and returns its path.
    ///
    /// To be called once.
    func place(as name: FileName) throws(FileError) -> String {
        try flush()
        while true {
            let path = folder.firstFreePath(for: name)
            let status = place(at: path)
            if status == 0 {
                temporaryPath = nil
                return path
            }
            guard status == -EEXIST else { throw failure("create", path, -status) }
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
        descriptor = folder.calls.openUnnamed(folder.path)
        if descriptor < 0 { try openTemporary() }
    }

    /// Opens a file with a temporary name; the lock tells other processes that somebody writes it.
    private func openTemporary() throws(FileError) {
        var path: String
        var opened: Int32
        repeat {
            path = folder.file(TemporaryName.next())
            opened = folder.calls.openNew(path)
            // One of a process that was killed, which had the same number.
        } while opened == -EEXIST
        guard opened >= 0 else { throw failure("create", label, -opened) }
        _ = flock(opened, LOCK_EX | LOCK_NB)
        descriptor = opened
        temporaryPath = path
    }

    /// The call's status: `-EEXIST` if the name is taken.
    private func place(at path: String) -> Int32 {
        if temporaryPath == nil {
            let status = folder.calls.nameUnnamed(descriptor, path)
            guard Self.isUnsupported(status) else { return status }
            if let failure = moveToTemporary() { return failure }
        }
        guard let temporaryPath else { return -ENOENT }
        var status = folder.calls.renameIfFree(temporaryPath, path)
        guard Self.isUnsupported(status) else { return status }
        status = folder.calls.link(temporaryPath, path)
        if status == 0 {
            unsafe unlink(temporaryPath)
            return 0
        }
        guard Self.isUnsupported(status) else { return status }
        // A file system that can do neither: reserve the name, then replace what reserves it.
        let reserved = folder.calls.openNew(path)
        guard reserved >= 0 else { return reserved }
        close(reserved)
        status = folder.calls.rename(temporaryPath, path)
        if status < 0 { unsafe unlink(path) }
        return status
    }

    /// Copies a file that cannot get a name after all into one that has; returns the error code if that fails.
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

    /// Returns whether the file system, or the kernel, does not know a call, rather than fail at it.
    private static func isUnsupported(_ status: Int32) -> Bool {
        [-EPERM, -EOPNOTSUPP, -ENOTSUP, -EMLINK, -ENOSYS, -EINVAL, -EXDEV].contains(status)
    }
}
