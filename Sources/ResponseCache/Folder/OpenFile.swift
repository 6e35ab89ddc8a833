import Glibc

import CLinux

/// An open file, read and written at given offsets, and closed when it is released.
///
/// It is opened by a path in a folder, or of the process if there is no folder; the last component is never followed.
package final class OpenFile: Sendable {
    private let descriptor: Int32
    private let traffic: FileIOStatistics?

    /// `O_NOATIME`, which the C library declares only for GNU sources.
    private static let keepingAccessTime: Int32 = 0o1_000_000

    init(
        reading path: String, in folder: OpenFolder? = nil, traffic: FileIOStatistics? = nil
    ) throws(FileFailure) {
        self.traffic = traffic
        // With `O_NONBLOCK`, because a pipe in place of the file would wait for a writer.
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        // Otherwise, reading a file would update its access time, which costs 2 µs.
        let folder = folder?.descriptor ?? AT_FDCWD
        var descriptor = unsafe openat(folder, path, flags | Self.keepingAccessTime)
        // Not permitted for files of another user.
        if descriptor < 0, errno == EPERM { descriptor = unsafe openat(folder, path, flags) }
        self.descriptor = descriptor
        if descriptor < 0 { throw .last }
    }

    /// Opens a file for reading without waiting for a disk; throws `EAGAIN` if that is impossible.
    ///
    /// No component of the path may be a link.
    init(
        readingAtOnce path: String, in folder: OpenFolder, traffic: FileIOStatistics? = nil
    ) throws(FileFailure) {
        self.traffic = traffic
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | Self.keepingAccessTime
        descriptor = unsafe clinux_open_at_once(folder.descriptor, path, flags)
        if descriptor < 0 { throw .last }
    }

    /// Creates a file, accessible only to its owner.
    init(
        creating path: String, in folder: OpenFolder, traffic: FileIOStatistics? = nil
    ) throws(FileFailure) {
        self.traffic = traffic
        descriptor = unsafe openat(
            folder.descriptor, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0 { throw .last }
    }

    /// Opens a file for reading and writing; if it does not exist, it is created if `creates` is `true`.
    init(
        updating path: String, in folder: OpenFolder? = nil, creates: Bool = false, traffic: FileIOStatistics? = nil
    ) throws(FileFailure) {
        self.traffic = traffic
        // With `O_NONBLOCK`, because a pipe in place of the file would wait for a reader.
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (creates ? O_CREAT : 0)
        descriptor = unsafe openat(folder?.descriptor ?? AT_FDCWD, path, flags, 0o600)
        if descriptor < 0 { throw .last }
    }

    deinit {
        // A file that could not be opened has none.
        if descriptor >= 0 { close(descriptor) }
    }

    /// Opens a folder, in order to lock it.
    init(folder path: String, in folder: OpenFolder? = nil) throws(FileFailure) {
        traffic = nil
        descriptor = unsafe openat(
            folder?.descriptor ?? AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)
        if descriptor < 0 { throw .last }
    }

    /// Locks the file against all others that open and lock it, until it is closed; waits for them up to a limit.
    ///
    /// Returns `false` if another one has still locked it then. The end of a process releases its locks.
    func lock(upTo limit: Duration = .zero) -> Bool {
        var waited = Duration.zero
        // In microseconds. No system call waits for a limited time.
        var pause = 50
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EAGAIN, waited < limit else { return false }
            usleep(UInt32(pause))
            waited += .microseconds(pause)
            pause = min(2 * pause, 5_000)
        }
        return true
    }

    /// The size of the file in bytes.
    var size: Int {
        get throws(FileFailure) {
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
            return Int(status.st_size)
        }
    }

    /// The size of the file in bytes, and the time of its last use in nanoseconds since 1970; `nil` if they are unknown.
    var status: (size: Int, usedAt: Int)? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        return (Int(status.st_size), status.modificationTime)
    }

    /// The identity of the file; `nil` if it is unknown.
    var identity: FileIdentity? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? FileIdentity(status) : nil
    }

    /// A Boolean value that indicates whether the file has not been removed.
    var hasName: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    /// Truncates the file to `size` bytes.
    func truncate(to size: Int) throws(FileFailure) {
        if ftruncate(descriptor, off_t(size)) != 0 { throw .last }
    }

    /// Sets the time of the last use to now, more precisely than the system would.
    func touch() {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let times = [now, now]
        _ = unsafe futimens(descriptor, times)
    }

    /// The current time, in nanoseconds since 1970.
    static var now: Int {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return now.nanoseconds
    }

    /// Sets the time of the last use of a file in a folder, in nanoseconds since 1970.
    static func touch(_ path: String, in folder: OpenFolder, at time: Int) {
        let time = timespec(nanoseconds: time)
        _ = unsafe utimensat(folder.descriptor, path, [time, time], AT_SYMLINK_NOFOLLOW)
    }

    /// Reads the first bytes of the file into two arrays without waiting for a disk; `nil` if not all are in memory.
    func readAtOnce(_ first: Int, _ second: Int) throws(FileFailure) -> (first: [UInt8], second: [UInt8])? {
        var result = 0
        var (firstBytes, secondBytes): ([UInt8], [UInt8]) = ([], [])
        unsafe firstBytes = [UInt8](unsafeUninitializedCapacity: first) { firstBuffer, firstCount in
            unsafe secondBytes = [UInt8](unsafeUninitializedCapacity: second) { secondBuffer, secondCount in
                result = Int(
                    unsafe clinux_read_at_once(
                        descriptor, firstBuffer.baseAddress, Int64(first), secondBuffer.baseAddress, Int64(second)))
                if result == first + second { (firstCount, secondCount) = (first, second) }
            }
        }
        if result < 0 { throw .last }
        guard result == first + second else { return nil }
        traffic?.countRead(result)
        return (firstBytes, secondBytes)
    }

    /// Reads up to `count` bytes; fewer at the end.
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
        traffic?.countRead(bytes.count)
        return bytes
    }

    /// Writes all of `pieces` one after the other, or throws an error.
    func write(_ pieces: [[UInt8]], at offset: Int) throws(FileFailure) {
        let count = pieces.reduce(0) { $0 + $1.count }
        let written = unsafe Self.withVectors(of: pieces[...], after: []) { vectors in
            unsafe pwritev(descriptor, vectors, Int32(vectors.count), off_t(offset))
        }
        guard written == count else {
            // One by one, to find out why.
            var offset = offset
            for piece in pieces {
                try write(piece, at: offset)
                offset += piece.count
            }
            return
        }
        traffic?.countWritten(count)
    }

    /// Calls `body` with the addresses of all of `pieces`.
    private static func withVectors<Result>(
        of pieces: ArraySlice<[UInt8]>, after vectors: [iovec], _ body: ([iovec]) -> Result
    ) -> Result {
        guard let first = pieces.first else { return unsafe body(vectors) }
        return unsafe first.withUnsafeBytes { bytes in
            let vector = unsafe iovec(
                iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            return unsafe withVectors(of: pieces.dropFirst(), after: vectors + [vector], body)
        }
    }

    /// Writes all of `bytes`, or throws an error.
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
        traffic?.countWritten(bytes.count)
    }
}

extension stat {
    /// The time of the last modification, in nanoseconds since 1970.
    var modificationTime: Int {
        st_mtim.nanoseconds
    }
}

extension timespec {
    fileprivate init(nanoseconds: Int) {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        self.init(tv_sec: seconds, tv_nsec: rest)
    }

    /// All of the time in nanoseconds.
    fileprivate var nanoseconds: Int { Int(tv_sec) &* 1_000_000_000 &+ Int(tv_nsec) }
}
