import AsyncWebImage

/// The bytes of one image, piece by piece, wherever it comes from.
///
/// Not `Sendable`: belongs to the task that reads it.
protocol ImagePieces: AnyObject {
    /// The next piece, never empty; nil at the end.
    ///
    /// Throws ``StartedOver`` if all pieces so far are void and the next is the first of another body; the caller may go on
    /// asking.
    func next() async throws -> [UInt8]?
    /// Says that nothing will be asked for for a while.
    func park()
    /// Where the bytes come from, as ``Outcome/source`` has it; nil before the first piece.
    var source: String? { get }
    /// How many bytes there will be; nil if nobody says.
    var expectedCount: Int? { get }
}

/// A download has begun anew.
struct StartedOver: Error {}

/// The body of a response.
final class DownloadedPieces: ImagePieces {
    private let body: ImageBytes
    private var parts: ImageBytes.AsyncIterator

    init(_ body: ImageBytes) {
        self.body = body
        parts = body.makeAsyncIterator()
    }

    func next() async throws -> [UInt8]? {
        switch try await parts.next() {
        case .bytes(let piece): return piece
        case .restart: throw StartedOver()
        case nil: return nil
        }
    }

    func park() { body.park() }

    var source: String? { body.source?.rawValue }
    var expectedCount: Int? { body.head?.contentLength }
}

/// A file on this machine.
final class FilePieces: ImagePieces {
    private let file: ImageFile
    /// Has the file open.
    private let owner: UnfinishedFile?
    /// What is thrown behind the last piece, in place of the end.
    private let end: (any Error)?

    init(_ file: consuming ImageFile, of owner: UnfinishedFile? = nil, end: (any Error)? = nil) {
        self.file = file
        self.owner = owner
        self.end = end
    }

    func next() async throws -> [UInt8]? {
        try Task.checkCancellation()
        let block = try file.nextBlock()
        guard block.isEmpty else { return block }
        if let end { throw end }
        return nil
    }

    func park() {}

    var source: String? { "file" }
    var expectedCount: Int? { file.count }
}
