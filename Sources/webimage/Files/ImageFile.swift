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
        isOwned = true
        func error(_ reason: String, remedy: String?) -> FileError {
            FileError(description: isSource ? [reason, remedy].compactMap(\.self).joined(separator: "; ") : reason)
        }
        // Nonblocking, in case it is a pipe.
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let remedy = errno == ENOENT ? "a URL begins with http:// or https://" : nil
            throw error(FileError("read", "the file").description, remedy: remedy)
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw FileError("read", "the file") }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR:
            let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
            throw error("a folder", remedy: "pass its files, as in \(folder)/*.jpg")
        default: throw error("not a regular file", remedy: "- reads standard input")
        }
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
