import Glibc

/// A failed file operation and its reason.
package struct FileError: Error, Equatable, CustomStringConvertible {
    package let description: String
    /// The system's error code; 0 if the error is not from the system.
    package let code: Int32
    /// A Boolean value that indicates whether writing other files to the same folder would also fail: the disk is
    /// full, defective, or read-only.
    package var endsRun = false

    /// Creates an error for `action` on `path`; by default with the reason in `errno`.
    package init(_ action: String, _ path: String, code: Int32 = errno) {
        self.code = code
        description = "cannot \(action) \(path): \(Self.reason(of: code))"
    }

    package init(description: String) {
        self.description = description
        code = 0
    }

    /// Returns the system's description of an error code.
    package static func reason(of code: Int32) -> String { unsafe String(cString: strerror(code)) }

    /// Returns the reason why `path` cannot be read; `nil` if it can.
    ///
    /// It is not opened: the program that writes to a named pipe would begin, and then lose its reader.
    package static func reading(_ path: String) -> FileError? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, unsafe faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 else {
            return FileError("read", path)
        }
        return status.st_mode & S_IFMT == S_IFDIR ? FileError("read", path, code: EISDIR) : nil
    }
}

/// Calls on open files that continue after partial reads and writes.
package enum FileDescriptor {
    /// Writes all of `bytes`.
    package static func write(_ bytes: [UInt8], to descriptor: Int32, named name: String) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                waitUntilWritable(descriptor)
            } else if errno != EINTR {
                throw FileError("write to", name)
            }
        }
    }

    /// Closes a file that has been written; network file systems report some errors of writing only here.
    ///
    /// The descriptor is closed even if this throws.
    package static func close(_ descriptor: Int32, named name: String) throws(FileError) {
        // After an interruption, the descriptor is closed as well.
        guard systemClose(descriptor) == 0 || errno == EINTR else { throw FileError("write to", name) }
    }

    /// Reads up to `most` bytes; returns none at the end.
    package static func read(_ most: Int, from descriptor: Int32, named name: String) throws(FileError) -> [UInt8] {
        var count = 0
        repeat {
            var bytes = [UInt8](repeating: 0, count: most)
            count = unsafe bytes.withUnsafeMutableBytes { unsafe systemRead(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return Array(bytes.prefix(count)) }
        } while errno == EINTR
        throw FileError("read", name)
    }

    /// Returns whether data or the end of the file can be read within `milliseconds`.
    package static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe systemPoll(&poll, 1, milliseconds) > 0
    }

    /// Returns whether data can be written, or writing fails, within `milliseconds`.
    package static func isWritable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe systemPoll(&poll, 1, milliseconds) > 0
    }

    /// Handles a nonblocking stream, which shared terminals often are.
    private static func waitUntilWritable(_ descriptor: Int32) {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe systemPoll(&poll, 1, -1)
    }
}

private let systemWrite = unsafe Glibc.write
private let systemRead = unsafe Glibc.read
private let systemPoll = unsafe Glibc.poll
private let systemClose = Glibc.close
