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

    /// Throws if there is no regular file at `path`, or it may not be read.
    init(path: String) throws(FileError) {
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

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// All of it, up to the limit of what is decoded.
    consuming func bytes(limit: Int = DecodeLimits().maximumBytes) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let block = try FileDescriptor.read(Self.blockSize, from: descriptor, named: "the file")
            if block.isEmpty { return bytes }
            bytes += block
            guard bytes.count <= limit else { throw CodecError.overLimit(.bytes, value: bytes.count, limit: limit) }
        }
    }

    /// The decoded image; never more than a block of the file is held besides.
    consuming func decoded(options: DecodeOptions) throws -> DecodedImage {
        try decoded(by: StreamingDecoder(options: options))
    }

    private consuming func decoded(by decoder: StreamingDecoder) throws -> DecodedImage {
        while true {
            if decoder.plan != nil { try decoder.begin() }
            let block = try FileDescriptor.read(Self.blockSize, from: descriptor, named: "the file")
            if block.isEmpty { return try decoder.finish() }
            try decoder.append(block.span)
        }
    }

    /// All frames, decoded when they are asked for; a still image is decoded, as in ``decoded(options:)``.
    consuming func animation(options: DecodeOptions) throws -> AnimatedImage {
        let decoder = StreamingDecoder(options: options)
        var file: [UInt8] = []
        while decoder.plan == nil {
            let block = try FileDescriptor.read(Self.blockSize, from: descriptor, named: "the file")
            if block.isEmpty { return AnimatedImage(still: try decoder.finish()) }
            file += block
            try decoder.append(block.span)
        }
        if decoder.header?.mayBeAnimated == true {
            var animation = StreamingAnimation(options: options)
            try animation.append(file.span)
            while !animation.needsNoMoreBytes {
                let block = try FileDescriptor.read(Self.blockSize, from: descriptor, named: "the file")
                if block.isEmpty { break }
                try animation.append(block.span)
            }
            return try animation.finish()
        }
        file = []
        return AnimatedImage(still: try decoded(by: decoder))
    }

    /// The header, after no more blocks than it takes, and how many bytes they had.
    consuming func header() throws -> (header: ImageHeader, byteCount: Int) {
        let decoder = StreamingDecoder()
        var count = 0
        while true {
            let block = try FileDescriptor.read(Self.blockSize, from: descriptor, named: "the file")
            count += block.count
            if block.isEmpty { return (try decoder.finish().header, count) }
            try decoder.append(block.span)
            if let header = decoder.header { return (header, count) }
        }
    }
}
