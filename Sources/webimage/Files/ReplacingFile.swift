import WebimageConsole

import Glibc

/// A file that gets its name when it is complete, replacing an existing one.
///
/// Until then, it has the name `.NAME.HOST-PID.part` in the same folder, with a tag `.NAME.TAG-HOST-PID.part`. That
/// name is removed when the file is released. Not `Sendable`: its methods block.
final class ReplacingFile {
    private static let bufferSize = 256 << 10

    /// The call that closes a file after everything has been written to it.
    typealias Close = (_ descriptor: Int32, _ name: String) throws(FileError) -> Void

    private let path: String
    let temporaryPath: String
    private let calls: FileCalls
    private let close: Close
    /// The descriptor; negative after the file is complete.
    private var descriptor: Int32
    private var isPlaced = false
    private var buffer: [UInt8] = []
    /// The number of bytes so far.
    private(set) var count = 0

    /// Creates the file that will be at `path`; tests replace the calls.
    init(
        path: String, tag: String? = nil, calls: FileCalls = FileCalls(), close: @escaping Close = FileDescriptor.close
    ) throws(FileError) {
        self.path = path
        self.calls = calls
        self.close = close
        temporaryPath = Self.temporaryPath(of: path, tag)
        descriptor = TemporaryName.openNew(temporaryPath)
        guard descriptor >= 0 else { throw FileError("create", path, code: -descriptor) }
    }

    deinit {
        if descriptor >= 0 { try? FileDescriptor.close(descriptor, named: path) }
        if !isPlaced { unsafe unlink(temporaryPath) }
    }

    /// Appends bytes.
    func append(_ bytes: [UInt8]) throws(FileError) {
        count += bytes.count
        buffer += bytes
        if buffer.count >= Self.bufferSize { try flush() }
    }

    /// Returns `count` bytes from `offset`.
    func read(_ count: Int, at offset: Int) throws(FileError) -> [UInt8] {
        try flush()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let missing = count - bytes.count
            var part = [UInt8](repeating: 0, count: missing)
            let read = unsafe part.withUnsafeMutableBytes {
                unsafe pread(descriptor, $0.baseAddress, missing, off_t(offset + bytes.count))
            }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { throw FileError("read", path, code: read < 0 ? errno : EIO) }
            if read == missing, bytes.isEmpty { return part }
            bytes += part.prefix(read)
        }
        return bytes
    }

    /// Writes all bytes to the disk.
    func sync() throws(FileError) {
        try flush()
        guard fsync(descriptor) == 0 else { throw FileError("write to", path) }
    }

    /// Gives the file its name, or that of `other`.
    func place(at other: String? = nil) throws(FileError) {
        try finish()
        guard unsafe rename(temporaryPath, other ?? path) == 0 else { throw FileError("create", path) }
        isPlaced = true
    }

    /// Gives the file its name unless there is one of that name; returns whether it did.
    func placeIfFree() throws(FileError) -> Bool {
        try finish()
        let status = calls.moveIfFree(temporaryPath, to: path)
        guard status < 0 else {
            isPlaced = true
            return true
        }
        guard status == -EEXIST else { throw FileError("create", path, code: -status) }
        return false
    }

    /// Writes the rest, and closes the file.
    private func finish() throws(FileError) {
        try flush()
        guard descriptor >= 0 else { return }
        let open = descriptor
        descriptor = -1
        try close(open, path)
    }

    private func flush() throws(FileError) {
        guard !buffer.isEmpty else { return }
        let bytes = buffer
        buffer = []
        try FileDescriptor.write(bytes, to: descriptor, named: path)
    }

    /// Returns the path of a file that is not complete yet and will be at `path`.
    static func temporaryPath(of path: String, _ tag: String? = nil) -> String {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last.map { String($0) } ?? path
        let folder = path.dropLast(name.count)
        return "\(folder).\(name).\(tag.map { "\($0)-" } ?? "")\(hostName)-\(getpid()).part"
    }

    /// The name of this machine, for folders that several machines share.
    private static let hostName: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "host" }
        return String(
            String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).prefix(64)
                .map { $0 == "/" || $0 == "-" ? "_" : $0 })
    }()
}
