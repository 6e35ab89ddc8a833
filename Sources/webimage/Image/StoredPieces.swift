import AsyncWebImage

/// The pieces of an image as a check or a conversion reads them, which can be stored in order to be read again, or before
/// they take much memory.
final class StoredPieces: DecodeInput, DecodeStorage {
    private let pieces: any ImagePieces
    private let memory: MemoryLimits
    private let folder: OutputFolder
    /// A Boolean value that indicates whether an interrupted transfer is a file that ends early.
    private let allowsPartial: Bool
    /// The first pieces, as long as they can be read again, and the index of the next one.
    private var beginning: [[UInt8]] = []
    private var index = 0
    private var keepsPieces = true
    /// The file with the pieces that follow, and its reader; `nil` if there is no file, or the reader is at its end.
    private var file: UnfinishedFile?
    private var reader: FilePieces?
    /// The end of the pieces, once they are all stored.
    private var end: Result<Void, any Error>?

    /// Creates the input; if `file` is given, all pieces are stored in it as they are read, until a conversion begins.
    init(
        _ pieces: any ImagePieces, in file: UnfinishedFile?, _ memory: MemoryLimits, _ folder: OutputFolder,
        allowsPartial: Bool
    ) {
        self.pieces = pieces
        self.memory = memory
        self.folder = folder
        self.allowsPartial = allowsPartial
        self.file = file
        if file == nil, let local {
            reader = local
            end = .success(())
        }
    }

    var storage: (any DecodeStorage)? { self }
    var maximumHeldBytes: Int { MemoryLimits.beginning }
    var memoryLimit: Int { memory.image }
    /// The pieces of a local file, which need not be stored; `nil` for others.
    private var local: FilePieces? { pieces as? FilePieces }
    /// The number of bytes in the image, once all of it is stored; otherwise `nil`.
    var expectedLength: Int? {
        guard end != nil, let stored = reader?.count else { return nil }
        return beginning.reduce(stored) { $0 + $1.count }
    }
    /// The number of bytes in the file.
    var storedCount: Int { file?.count ?? 0 }

    func admit(_ bytes: Int) throws { try memory.admit(bytes, to: "convert") }

    func suspendReading() { pieces.suspendReading() }

    func next(inBatches: Bool) async throws -> [[UInt8]]? { try await nextPiece().map { [$0] } }

    /// Returns the next piece; `nil` at the end.
    ///
    /// A piece that is stored in a file is passed to `beforeStoring` first.
    func nextPiece(beforeStoring: ([UInt8]) -> Void = { _ in }) async throws -> [UInt8]? {
        if index < beginning.count {
            index += 1
            return beginning[index - 1]
        }
        if !keepsPieces { (beginning, index) = ([], 0) }
        if let piece = try await reader?.next() { return piece }
        reader = nil
        if let end {
            try end.get()
            return nil
        }
        guard let piece = try await receive() else { return nil }
        if !keepsPieces { return piece }
        if let file {
            beforeStoring(piece)
            try file.append(piece)
        } else {
            beginning.append(piece)
            index += 1
        }
        return piece
    }

    private func receive() async throws -> [UInt8]? {
        do {
            return try await pieces.next()
        } catch is ImageBytes.StartedOver {
            try file?.truncate()
            (beginning, index, reader, keepsPieces) = ([], 0, nil, true)
            throw BodyRestarted()
        } catch let error as ImageError where allowsPartial {
            end = .failure(error)
            throw error
        }
    }

    /// Stores the pieces of work that takes more memory than may wait for a server.
    func prepare(for bytes: Int) async throws {
        try admit(bytes)
        keepsPieces = false
        if index == beginning.count { (beginning, index) = ([], 0) }
        if bytes > MemoryLimits.small, end == nil {
            // A file that has been read is not needed anymore.
            if reader == nil { file = nil }
            let position = try reader?.position() ?? 0
            _ = try await store(upTo: .max)
            try reader?.move(to: position)
        }
        suspendReading()
    }

    func store(upTo limit: Int) async throws -> Int {
        if file == nil, end != nil {
            let count = local?.count ?? 0
            return count > limit ? limit + 1 : count
        }
        let file = file ?? folder.makeFile()
        self.file = file
        let held = beginning.reduce(0) { $0 + $1.count }
        while end == nil, held + file.count <= limit {
            do {
                if let piece = try await receive() { try file.append(piece) } else { end = .success(()) }
            } catch let error as ImageError {
                if end == nil { throw error }
            }
        }
        suspendReading()
        reader = try file.pieces()
        return held + file.count
    }

    func rewind() throws {
        index = 0
        if let file {
            if file.count > 0 { reader = try file.pieces() }
        } else if end != nil {
            reader = local
            try local?.move(to: 0)
        }
    }
}
