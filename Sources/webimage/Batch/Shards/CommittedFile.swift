import Hashing
import WebimageConsole

import Glibc

/// A file of a complete shard, read from its beginning to its end, and compared with the digest in the marker.
///
/// Not `Sendable`: its methods block.
final class CommittedFile {
    private static let blockSize = 256 << 10

    private let path: String
    private let descriptor: Int32
    private let sha256: String?
    private var digest: MessageDigest
    private var block: ArraySlice<UInt8> = []

    /// Opens a file; `expected` is what the marker says about it.
    ///
    /// Throws ``DamagedShard`` if the file cannot be read, or has another size.
    init(path: String, expected: ShardMarker.File?) throws {
        self.path = path
        sha256 = expected?.sha256
        digest = try MessageDigest(.sha256)
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw DamagedShard(FileError("read", path)) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw DamagedShard(FileError("read", path)) }
        guard let expected, Int(status.st_size) == expected.bytes else { throw DamagedShard(differingPath: path) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns the next `count` bytes, or fewer at the end of the file.
    func read(_ count: Int) throws(DamagedShard) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard try refill() else { break }
            let part = block.prefix(count - bytes.count)
            bytes += part
            block = block.dropFirst(part.count)
        }
        return bytes
    }

    /// Returns the next line with the line feed at its end; `nil` at the end of the file.
    func line() throws(DamagedShard) -> [UInt8]? {
        var line: [UInt8] = []
        while try refill() {
            if let end = block.firstIndex(of: UInt8(ascii: "\n")) {
                line += block[...end]
                block = block[(end + 1)...]
                return line
            }
            line += block
            block = []
        }
        return line.isEmpty ? nil : line
    }

    /// Reads the rest of the file; throws ``DamagedShard`` if the file is not the one that the marker describes.
    func finish() throws {
        while try refill() { block = [] }
        guard try digest.finish().hexadecimal == sha256 else { throw DamagedShard(differingPath: path) }
    }

    /// Reads the next block if there are no bytes left; returns `false` at the end.
    private func refill() throws(DamagedShard) -> Bool {
        guard block.isEmpty else { return true }
        do throws(FileError) {
            let next = try FileDescriptor.read(Self.blockSize, from: descriptor, named: path)
            digest.update(next)
            block = next[...]
        } catch {
            throw DamagedShard(error)
        }
        return !block.isEmpty
    }
}

/// The error when a complete shard cannot be copied, because its files are not the ones that its marker describes.
struct DamagedShard: Error, CustomStringConvertible {
    let description: String

    /// Creates the error for a file that cannot be read.
    init(_ error: FileError) {
        description = error.description
    }

    /// Creates the error for a file or folder with other contents.
    init(differingPath path: String) {
        description = "\(path) is not as its marker describes it"
    }
}
