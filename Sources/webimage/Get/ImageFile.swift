import WebimageConsole
import AsyncWebImage

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// An image file on this machine, read in blocks.
struct ImageFile: ~Copyable {
    private static let blockSize = 64 << 10

    private let descriptor: Int32
    /// A Boolean value that indicates whether the descriptor is closed with the value.
    private let isOwned: Bool

    /// Throws if there is no regular file at `path`, or it may not be read.
    init(path: String) throws(FileError) {
        isOwned = true
        // Not waiting for the other end, should it be a pipe.
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let hint = errno == ENOENT ? "; a URL begins with http:// or https://" : ""
            throw FileError(description: "\(FileError("read", "the file").description)\(hint)")
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw FileError("read", "the file") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError(description: "not a regular file") }
    }

    /// A file that somebody else has open for longer, from its current position on.
    init(borrowing open: Int32) {
        descriptor = open
        isOwned = false
    }

    deinit {
        if isOwned, descriptor >= 0 { close(descriptor) }
    }

    /// How many bytes the file has; nil if it does not say.
    var count: Int? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : nil
    }

    /// The next bytes; none at the end.
    func nextBlock() throws(FileError) -> [UInt8] {
        try FileDescriptor.read(Self.blockSize, from: descriptor, named: "the file")
    }

    /// All of it, up to the limit of what is decoded.
    consuming func bytes(limit: Int = DecodeLimits().maximumBytes) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let block = try nextBlock()
            if block.isEmpty { return bytes }
            bytes += block
            guard bytes.count <= limit else { throw CodecError.overLimit(.bytes, value: bytes.count, limit: limit) }
        }
    }

    /// The header, after no more blocks than it takes, and how many bytes they had.
    consuming func header() throws -> (header: ImageHeader, byteCount: Int) {
        let decoder = StreamingDecoder()
        var count = 0
        while true {
            let block = try nextBlock()
            count += block.count
            if block.isEmpty { try decoder.lookForHeaderAtEnd() } else { try decoder.append(block.span) }
            if let header = decoder.header { return (header, count) }
            // Without one the decoder says why.
            if block.isEmpty { return (try decoder.finish().header, count) }
        }
    }
}
