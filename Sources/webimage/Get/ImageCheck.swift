import AsyncWebImage

/// Writes the bytes of an image into a file while it finds out whether they are one.
///
/// Nothing but a piece of the image is held, besides what the check itself takes.
struct ImageCheck {
    /// What is looked at.
    enum Extent {
        /// The header alone, and how many frames there are.
        case header
        /// Every byte that makes pixels.
        case everything
    }

    /// The image is damaged; all of it was written.
    struct Damaged: Error {
        let cause: CodecError
    }

    let decoder: ImageDecoder
    let memory: MemoryLimits
    let extent: Extent
    /// Whether a damaged image is written to its end, for ``Damaged``.
    var keepsDamaged = false

    /// Reads `pieces` to their end, writes them to `file` and returns the header, with the number of frames.
    ///
    /// Throws what ``ImageVerifier`` throws as soon as there is reason to: the rest is not asked for then. Begins anew
    /// whenever the pieces do, which the number of attempts limits. `named` is called when the format is known, before most
    /// is written.
    func run(
        _ pieces: any ImagePieces, into file: UnfinishedFile, named: (ImageFormat) -> Void
    ) async throws -> ImageHeader {
        while true {
            do {
                return switch extent {
                case .header: try await readHeader(pieces, file, named)
                case .everything: try await verify(pieces, file, named)
                }
            } catch is StartedOver {
                try file.truncate()
            } catch let error as CodecError where keepsDamaged && error.leavesPixels {
                guard try await finishes(pieces, file) else { continue }
                throw Damaged(cause: error)
            }
        }
    }

    /// Writes what is left; false if the pieces begin anew.
    private func finishes(_ pieces: any ImagePieces, _ file: UnfinishedFile) async throws -> Bool {
        do {
            while let piece = try await pieces.next() { try file.append(piece) }
            return true
        } catch is StartedOver {
            try file.truncate()
            return false
        }
    }

    private func verify(
        _ pieces: any ImagePieces, _ file: UnfinishedFile, _ named: (ImageFormat) -> Void
    ) async throws -> ImageHeader {
        let verifier = ImageVerifier(limits: decoder.configuration.limits)
        while verifier.header == nil, let piece = try await pieces.next() {
            do {
                try verifier.append(piece.span)
            } catch {
                if keepsDamaged { try file.append(piece) }
                throw error
            }
            if let format = verifier.header?.format ?? Self.format(of: piece, in: file) { named(format) }
            try file.append(piece)
        }
        try verifier.lookForHeaderAtEnd()
        // What ended before its header has none, and the verifier says why.
        guard let bytes = verifier.estimatedBytes else { return try verifier.finish() }
        try memory.admitCheck(of: bytes, by: decoder)
        guard bytes > MemoryLimits.small else {
            pieces.park()
            return try await decoder.withMemory(bytes) {
                try verifier.begin()
                while let piece = try await pieces.next() {
                    try file.append(piece)
                    try verifier.append(piece.span)
                }
                return try verifier.finish()
            }
        }
        // A server that sends slowly, or never, must not hold much memory while others wait for it.
        let start = file.count
        while let piece = try await pieces.next() { try file.append(piece) }
        let written = try file.pieces(from: start)
        return try await decoder.withMemory(bytes) {
            try verifier.begin()
            while let piece = try await written.next() { try verifier.append(piece.span) }
            return try verifier.finish()
        }
    }

    private func readHeader(
        _ pieces: any ImagePieces, _ file: UnfinishedFile, _ named: (ImageFormat) -> Void
    ) async throws -> ImageHeader {
        let reader = ImageHeaderReader(limits: decoder.configuration.limits)
        var isNamed = false
        while let piece = try await pieces.next() {
            try reader.append(piece.span)
            if !isNamed, let format = reader.header?.format ?? Self.format(of: piece, in: file) {
                isNamed = true
                named(format)
            }
            try file.append(piece)
        }
        return try reader.finish()
    }

    /// The format that the first piece of a file announces: metadata may keep its header from being known for long.
    private static func format(of piece: [UInt8], in file: UnfinishedFile) -> ImageFormat? {
        file.count == 0 ? ImageFormat(signature: piece.span) : nil
    }
}

extension CodecError {
    /// Whether something can be shown of such a file all the same.
    fileprivate var leavesPixels: Bool {
        switch self {
        case .truncated, .corrupt: true
        default: false
        }
    }
}
