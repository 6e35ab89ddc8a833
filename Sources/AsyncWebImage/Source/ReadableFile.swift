import HTTPTransport

import Glibc

/// A regular file that is open for reading.
///
/// Its methods block, so they must be called on threads of a source.
final class ReadableFile: Sendable {
    /// The reason why a file cannot be read.
    struct Failure: Error {
        let reason: TransportError.Reason
        var detail: String?

        /// Creates the failure of the last system call.
        fileprivate static var ofSystem: Failure {
            switch errno {
            case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP: Failure(reason: .sourceNotFound)
            case EMFILE, ENFILE: Failure(reason: .tooManyOpenFiles)
            case EACCES, EPERM: Failure(reason: .sourceRefused, detail: unsafe String(cString: strerror(errno)))
            default: Failure(reason: .sourceFailed, detail: unsafe String(cString: strerror(errno)))
            }
        }
    }

    /// The maximum number of bytes read at once.
    static let maximumPiece = 256 << 10
    /// `O_PATH`, a macro that is not imported into Swift: opens a file only to look at it, without effects on a device
    /// and without waiting for the other end of a FIFO.
    private static let pathOnly: Int32 = 0o10_000_000

    private let descriptor: Int32
    /// The size of the file when it was opened, in bytes.
    let count: Int
    /// The text that changes with the content of the file: its inode, its size, and the time of its last change.
    let version: String

    /// Opens the file at `path`, unless it is not a regular file, or not in `folder`, also after following symbolic links.
    init(_ path: [UInt8], under folder: String) throws(Failure) {
        let place = Self.open(path, Self.pathOnly)
        guard place >= 0 else { throw .ofSystem }
        defer { close(place) }
        try Self.checkKind(of: place)
        let descriptor: Int32
        if folder == "/" {
            descriptor = Self.open(path, O_RDONLY | O_NONBLOCK)
        } else {
            // The checked file itself: its name could lead to another one by now.
            let link = "/proc/self/fd/\(place)"
            guard let real = Self.target(of: link), let root = Self.realPath(of: folder) else { throw .ofSystem }
            guard root == [UInt8(ascii: "/")] || real.starts(with: root + [UInt8(ascii: "/")]) else {
                throw Failure(reason: .sourceRefused, detail: "the path leads out of the folder of the source")
            }
            descriptor = Self.open(Array(link.utf8), O_RDONLY | O_NONBLOCK)
        }
        guard descriptor >= 0 else { throw .ofSystem }
        do throws(Failure) {
            let status = try Self.checkKind(of: descriptor)
            count = Int(status.st_size)
            version = Self.version(of: status)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Returns the bytes from `position` on, up to ``maximumPiece`` or the size of the file when it was opened; none if
    /// the file ends there by now.
    func read(from position: Int) throws(Failure) -> [UInt8] {
        let wanted = min(Self.maximumPiece, count - position)
        guard wanted > 0 else { return [] }
        var status = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            repeat {
                status = unsafe pread(descriptor, buffer.baseAddress, wanted, off_t(position))
            } while status < 0 && errno == EINTR
            filled = max(0, status)
        }
        guard status >= 0 else { throw .ofSystem }
        // A file that has changed meanwhile must not count as complete.
        if position + bytes.count == count, try Self.version(of: Self.checkKind(of: descriptor)) != version {
            throw Failure(
                reason: .truncated(expected: count, received: position),
                detail: "the file has changed while it was read")
        }
        return bytes
    }

    private static func version(of status: stat) -> String {
        "\(status.st_ino)-\(status.st_size)-\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    private static func open(_ path: [UInt8], _ flags: Int32) -> Int32 {
        unsafe (path + [0]).withUnsafeBytes { bytes in
            guard let name = unsafe bytes.bindMemory(to: CChar.self).baseAddress else { return -1 }
            return unsafe Glibc.open(name, flags | O_CLOEXEC)
        }
    }

    @discardableResult
    private static func checkKind(of descriptor: Int32) throws(Failure) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .ofSystem }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return status
        case S_IFDIR: throw Failure(reason: .sourceFailed, detail: "it is a folder")
        case S_IFIFO: throw Failure(reason: .sourceFailed, detail: "it is a FIFO, not a file")
        case S_IFCHR, S_IFBLK: throw Failure(reason: .sourceFailed, detail: "it is a device, not a file")
        default: throw Failure(reason: .sourceFailed, detail: "it is not a regular file")
        }
    }

    /// Returns the path that a symbolic link contains; `nil` if it cannot be read.
    private static func target(of link: String) -> [UInt8]? {
        var count = 0
        let path = unsafe [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, filled in
            count = unsafe buffer.withMemoryRebound(to: CChar.self) { path in
                guard let start = path.baseAddress else { return 0 }
                return unsafe readlink(link, start, path.count)
            }
            filled = max(0, count)
        }
        return count > 0 ? path : nil
    }

    private static func realPath(of folder: String) -> [UInt8]? {
        guard let path = unsafe realpath(folder, nil) else { return nil }
        defer { unsafe free(path) }
        return unsafe Array(String(cString: path).utf8)
    }
}
