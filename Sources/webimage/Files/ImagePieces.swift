import AsyncWebImage
import WebimageConsole

/// The bytes of one image in pieces, from any source.
///
/// Not `Sendable`: used only by the task that reads it.
protocol ImagePieces: AnyObject {
    /// Returns the next piece, which is never empty; `nil` at the end.
    ///
    /// Throws `ImageBytes.StartedOver` if all earlier pieces are void and the next one is the first of another body; the
    /// caller can continue reading.
    func next() async throws -> [UInt8]?
    /// Notifies the source that the caller will not read for a while.
    func suspendReading()
    /// The origin of the bytes, in the format of ``Outcome/source``; `nil` before the first piece.
    var source: String? { get }
    /// The head of the response; `nil` before the first piece, and for files.
    var head: ResponseHead? { get }
}

extension ImagePieces {
    var head: ResponseHead? { nil }
}

/// The body of a response, in pieces; it is requested when it is first awaited.
final class DownloadedPieces: ImagePieces {
    private let request: ImageRequest
    private let loader: ImageLoader
    private var body: ImageBytes?
    private var pieces: ImageBytes.AsyncIterator?
    /// The error because of which there is no body.
    private var failure: (any Error)?

    init(_ request: ImageRequest, by loader: ImageLoader) {
        (self.request, self.loader) = (request, loader)
    }

    /// Waits until ``next()`` has a piece, or throws, without delay.
    func waitForFirst() async {
        do {
            let body = try await loader.bytes(for: request)
            (self.body, pieces) = (body, body.makeAsyncIterator())
        } catch {
            failure = error
        }
    }

    func next() async throws -> [UInt8]? {
        if body == nil, failure == nil { await waitForFirst() }
        if let failure { throw failure }
        return try await pieces?.next()
    }

    func suspendReading() { body?.suspendReading() }

    var source: String? { body?.source.rawValue }
    var head: ResponseHead? { body?.head }
}

/// The bytes of an input that cannot be read again, in pieces.
final class InputPieces: ImagePieces {
    private let blocks: InputBlocks
    /// The maximum number of bytes: an input can be endless.
    private let limit: Int

    init(_ blocks: InputBlocks, limit: Int) {
        (self.blocks, self.limit) = (blocks, limit)
    }

    func next() async throws -> [UInt8]? {
        let block = try await blocks.next()
        if block == nil { try Task.checkCancellation() }
        guard blocks.bytesRead <= limit else {
            throw CodecError.overLimit(.bytes, value: blocks.bytesRead, limit: limit)
        }
        return block
    }

    func suspendReading() {}

    var source: String? { "file" }
}

/// A local file, in pieces.
final class FilePieces: ImagePieces {
    private let file: ImageFile
    /// The owner that keeps the file open.
    private let owner: UnfinishedFile?

    init(_ file: consuming ImageFile, of owner: UnfinishedFile? = nil) {
        self.file = file
        self.owner = owner
    }

    func next() async throws -> [UInt8]? {
        try Task.checkCancellation()
        let block = try file.nextBlock()
        return block.isEmpty ? nil : block
    }

    /// The position of the next piece in the file, in bytes.
    func position() throws(FileError) -> Int { try file.position() }

    /// The number of bytes; `nil` if unknown.
    var count: Int? { file.count }

    /// Continues with the piece at `position`.
    func move(to position: Int) throws(FileError) { try file.move(to: position) }

    func suspendReading() {}

    var source: String? { "file" }
}
