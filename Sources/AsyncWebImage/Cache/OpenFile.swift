#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A call to the system that failed, by its `errno`.
struct FileFailure: Error, Equatable {
    let code: Int32

    static var last: FileFailure { FileFailure(code: errno) }

    var description: String { unsafe String(cString: strerror(code)) }
}

/// A file that is open, read and written at given places; closed when it is let go.
final class OpenFile: Sendable {
    private let descriptor: Int32

    init(reading path: String) throws(FileFailure) {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0 { throw .last }
    }

    /// A new file, for its owner alone.
    init(creating path: String) throws(FileFailure) {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0 { throw .last }
    }

    /// A file that is there, to be read and written.
    init(updating path: String) throws(FileFailure) {
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0 { throw .last }
    }

    deinit { close(descriptor) }

    /// Nil if it cannot be found out.
    var size: Int? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Whether both are the same file, whatever its names are.
    func isSame(as other: OpenFile) -> Bool {
        var (ours, theirs) = (stat(), stat())
        return unsafe fstat(descriptor, &ours) == 0 && fstat(other.descriptor, &theirs) == 0
            && ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev
    }

    /// Cuts off what is beyond `size`.
    func truncate(to size: Int) throws(FileFailure) {
        if ftruncate(descriptor, off_t(size)) != 0 { throw .last }
    }

    /// Says that it was used now, for whoever looks at the folder later.
    func touch() { _ = futimens(descriptor, nil) }

    /// Up to `count` bytes; fewer at the end.
    func read(_ count: Int, at offset: Int) throws(FileFailure) -> [UInt8] {
        var failure: FileFailure?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = unsafe pread(
                    descriptor, buffer.baseAddress.map { unsafe $0 + filled }, count - filled, off_t(offset + filled))
                if read < 0, errno == EINTR { continue }
                if read < 0 { failure = .last }
                if read <= 0 { return }
                filled += read
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all of `bytes`, or throws.
    func write(_ bytes: [UInt8], at offset: Int) throws(FileFailure) {
        var done = 0
        var failure: FileFailure?
        unsafe bytes.withUnsafeBufferPointer { buffer in
            while done < buffer.count {
                let written = unsafe pwrite(
                    descriptor, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done, off_t(offset + done))
                if written < 0, errno == EINTR { continue }
                guard written > 0 else {
                    failure = .last
                    return
                }
                done += written
            }
        }
        if let failure { throw failure }
    }
}

/// The folder of a cache.
struct CacheFolder: Sendable {
    struct File {
        let name: String
        let size: Int
        /// In seconds since 1970.
        let usedAt: Int
    }

    let path: String

    /// A folder at `path`, made if there is none, for its owner alone.
    init(path: String) throws(FileFailure) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += made.isEmpty || made.hasSuffix("/") ? String(part) : "/" + part
            if unsafe mkdir(made, 0o700) != 0, errno != EEXIST, errno != EISDIR, errno != EROFS { throw .last }
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .last }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FileFailure(code: ENOTDIR) }
        self.path = path
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    func rename(_ temporary: String, to name: String) throws(FileFailure) {
        // Glibc's, which replaces what there was, in one step.
        if unsafe renameat(AT_FDCWD, path(of: temporary), AT_FDCWD, path(of: name)) != 0 { throw .last }
    }

    func remove(_ name: String) { _ = unsafe unlink(path(of: name)) }

    /// Whether there is anything of this name.
    func has(_ name: String) -> Bool { unsafe access(path(of: name), F_OK) == 0 }

    /// What is in it, in no order; what vanishes meanwhile is left out.
    var files: [File] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var files: [File] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            var status = stat()
            guard name != ".", name != "..", unsafe lstat(path(of: name), &status) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { continue }
            #if canImport(Darwin)
            let usedAt = Int(status.st_mtimespec.tv_sec)
            #else
            let usedAt = Int(status.st_mtim.tv_sec)
            #endif
            files.append(File(name: name, size: Int(status.st_size), usedAt: usedAt))
        }
        return files
    }
}
