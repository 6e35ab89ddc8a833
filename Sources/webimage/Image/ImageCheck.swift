import AsyncWebImage
import ImageCodecs

/// Writes the bytes of an image to a file while verifying them.
///
/// Holds only a piece of the image, in addition to the memory of the verifier.
struct ImageCheck {
    /// The extent of the verification.
    enum Extent {
        /// Only the header and the number of frames.
        case header
        /// All image data.
        case everything
    }

    /// The error for a damaged image that was written completely.
    struct Damaged: Error {
        let cause: CodecError
    }

    let decoder: ImageDecoder
    let memory: MemoryLimits
    let extent: Extent
    /// A Boolean value that indicates whether a damaged image is written completely, followed by ``Damaged``.
    var keepsDamaged = false

    /// Reads `pieces` to their end, writes them to `file`, and returns the header with the number of frames.
    ///
    /// Throws the errors of ``ImageVerifier`` as soon as possible, without reading the remainder. Starts over
    /// whenever the pieces do, which the number of attempts limits. `named` is called when the format is known,
    /// before most of the file is written. `admission` is called with the header as soon as it is known, and can throw
    /// an error to end the check.
    func run(
        _ pieces: any ImagePieces, into file: UnfinishedFile, named: (ImageFormat) -> Void = { _ in },
        admission: (ImageHeader) throws -> Void = { _ in }
    ) async throws -> ImageHeader {
        while true {
            do {
                return switch extent {
                case .header: try await readHeader(pieces, file, named, admission)
                case .everything: try await verify(pieces, file, named, admission)
                }
            } catch is StartedOver {
                try file.truncate()
            } catch let error as CodecError where keepsDamaged && error.leavesPixels {
                guard try await finishes(pieces, file) else { continue }
                throw Damaged(cause: error)
            }
        }
    }

    /// Writes the remaining pieces; returns `false` if they start over.
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
        _ pieces: any ImagePieces, _ file: UnfinishedFile, _ named: (ImageFormat) -> Void,
        _ admission: (ImageHeader) throws -> Void
    ) async throws -> ImageHeader {
        let limits = decoder.configuration.limits
        var verifier = ImageVerifier(limits: limits, customFormats: CommandFormats.custom)
        while verifier.header == nil, file.count < MemoryLimits.beginning, let piece = try await pieces.next() {
            do {
                try verifier.append(piece.span)
            } catch {
                if keepsDamaged { try file.append(piece) }
                throw error
            }
            if let format = verifier.header?.format ?? Self.format(of: piece, in: file) { named(format) }
            try file.append(piece)
        }
        if let header = verifier.header { try admission(header) }
        var bytes = 0
        if verifier.header == nil, file.count >= MemoryLimits.beginning {
            let limit = verifier.maximumHeaderBytes
            verifier = ImageVerifier(limits: limits, customFormats: CommandFormats.custom)
            bytes = try await file.appendMetadata(pieces, limit: limit)
            try memory.admitCheck(of: bytes, by: decoder)
            bytes += try await decoder.withMemory(bytes) { try await estimatedBytes(of: file) }
        } else {
            try verifier.lookForHeaderAtEnd()
            // A file that ends before its header has no estimate; the verifier throws the reason.
            guard let estimate = verifier.estimatedBytes else { return try verifier.finish() }
            bytes = estimate
        }
        try memory.admitCheck(of: bytes, by: decoder)
        if verifier.header != nil, bytes <= MemoryLimits.small {
            pieces.suspendReading()
            return try await decoder.withMemory(bytes) {
                try verifier.begin()
                while let piece = try await pieces.next() {
                    try file.append(piece)
                    try verifier.append(piece.span)
                }
                return try verifier.finish()
            }
        }
        // A slow or stalled server must not hold much memory while other images wait for it.
        verifier = ImageVerifier(limits: limits, customFormats: CommandFormats.custom)
        while let piece = try await pieces.next() { try file.append(piece) }
        let written = try file.pieces()
        return try await decoder.withMemory(bytes) {
            while let piece = try await written.next() {
                try verifier.append(piece.span)
                // As soon as the header is known.
                try verifier.begin()
            }
            return try verifier.finish()
        }
    }

    /// Returns the memory that verification needs, in bytes, for an image of which the maximum length before a header
    /// has been written.
    private func estimatedBytes(of file: UnfinishedFile) async throws -> Int {
        let verifier = ImageVerifier(
            limits: decoder.configuration.limits, customFormats: CommandFormats.custom)
        let written = try file.pieces()
        while verifier.header == nil, let piece = try await written.next() { try verifier.append(piece.span) }
        try verifier.lookForHeaderAtEnd()
        if let bytes = verifier.estimatedBytes { return bytes }
        // Throws the reason why there is no header.
        _ = try verifier.finish()
        return 0
    }

    private func readHeader(
        _ pieces: any ImagePieces, _ file: UnfinishedFile, _ named: (ImageFormat) -> Void,
        _ admission: (ImageHeader) throws -> Void
    ) async throws -> ImageHeader {
        let limits = decoder.configuration.limits
        var reader = ImageHeaderReader(limits: limits, customFormats: CommandFormats.custom)
        var isNamed = false
        while reader.header == nil, file.count < MemoryLimits.beginning, let piece = try await pieces.next() {
            try reader.append(piece.span)
            if !isNamed, let format = reader.header?.format ?? Self.format(of: piece, in: file) {
                isNamed = true
                named(format)
            }
            try file.append(piece)
        }
        if let header = reader.header { try admission(header) }
        if reader.header == nil, file.count >= MemoryLimits.beginning {
            let limit = reader.maximumHeaderBytes
            reader = ImageHeaderReader(limits: limits, customFormats: CommandFormats.custom)
            let bytes = try await file.appendMetadata(pieces, limit: limit)
            try memory.admitCheck(of: bytes, by: decoder)
            try await decoder.withMemory(bytes) {
                let written = try file.pieces()
                while let piece = try await written.next() { try reader.append(piece.span) }
                // Finds the header, or throws the reason why there is none.
                if reader.header == nil { _ = try reader.finish() }
            }
        }
        while let piece = try await pieces.next() {
            try reader.append(piece.span)
            try file.append(piece)
        }
        return try reader.finish()
    }

    /// Returns the format identified by the first piece of a file: metadata can delay its header.
    private static func format(of piece: [UInt8], in file: UnfinishedFile) -> ImageFormat? {
        file.count == 0 ? ImageFormat(signature: piece.span) : nil
    }
}

extension CodecError {
    /// A Boolean value that indicates whether part of such a file can still be decoded.
    fileprivate var leavesPixels: Bool {
        switch self {
        case .truncated, .corrupt: true
        default: false
        }
    }
}
