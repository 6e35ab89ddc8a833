import WebimageConsole
import AsyncWebImage
import ImageCodecs

import Glibc

/// A local image file, read in blocks.
struct ImageFile: ~Copyable {
    private static let blockSize = 64 << 10

    private let descriptor: Int32
    /// A Boolean value that indicates whether the value closes the descriptor.
    private let isOwned: Bool

    /// Opens the regular file at `path`; throws an error if there is none, or it is not readable.
    ///
    /// With `isSource`, errors say how sources are written.
    init(path: String, isSource: Bool = false) throws(FileError) {
        // Nonblocking, in case it is a pipe.
        let opened = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else {
            let failure = FileError("read", "the file")
            guard isSource, failure.code == ENOENT else { throw failure }
            throw FileError(description: "\(failure); a URL begins with http:// or https://")
        }
        do throws(FileError) {
            try Self.requireRegularFile(opened, at: path, isSource: isSource)
        } catch {
            close(opened)
            throw error
        }
        isOwned = true
        descriptor = opened
    }

    private static func requireRegularFile(_ opened: Int32, at path: String, isSource: Bool) throws(FileError) {
        var status = stat()
        guard unsafe fstat(opened, &status) == 0 else { throw FileError("read", "the file") }
        let (reason, remedy): (String, String)
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR:
            let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
            (reason, remedy) = ("a folder", "pass its files, as in \(folder)/*.jpg")
        default: (reason, remedy) = ("not a regular file", "- reads standard input")
        }
        throw FileError(description: isSource ? "\(reason); \(remedy)" : reason)
    }

    /// Creates a file from a descriptor that is owned elsewhere, starting at its current position.
    init(borrowing open: Int32) {
        descriptor = open
        isOwned = false
    }

    deinit {
        if isOwned, descriptor >= 0 { close(descriptor) }
    }

    /// The number of bytes in the file; `nil` if unknown.
    var count: Int? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Returns the position of the next block, in bytes from the beginning of the file.
    func position() throws(FileError) -> Int {
        let position = lseek(descriptor, 0, SEEK_CUR)
        guard position >= 0 else { throw FileError("read", "the file") }
        return Int(position)
    }

    /// Continues with the block at `position`.
    func move(to position: Int) throws(FileError) {
        guard lseek(descriptor, off_t(position), SEEK_SET) >= 0 else { throw FileError("read", "the file") }
    }

    /// Returns the next bytes; none at the end.
    func nextBlock() throws(FileError) -> [UInt8] {
        try FileDescriptor.read(Self.blockSize, from: descriptor, named: "the file")
    }

    /// Returns the whole file, up to `limit` bytes, in an array with room for `capacity` bytes from the beginning.
    consuming func bytes(limit: Int = DecodeLimits().maximumBytes, capacity: Int = 0) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(capacity)
        while true {
            let block = try nextBlock()
            if block.isEmpty { return bytes }
            bytes += block
            guard bytes.count <= limit else { throw CodecError.overLimit(.bytes, value: bytes.count, limit: limit) }
        }
    }
}
