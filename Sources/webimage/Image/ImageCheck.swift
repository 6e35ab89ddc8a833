import AsyncWebImage
import ImageCodecs

/// Verifies an image while it is stored as it arrives.
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

    /// The error for a damaged image that was stored completely.
    struct Damaged: Error {
        let cause: CodecError
    }

    let decoder: ImageDecoder
    let memory: MemoryLimits
    let extent: Extent
    /// A Boolean value that indicates whether a damaged image is stored completely, followed by ``Damaged``.
    var keepsDamaged = false

    /// Reads `pieces`, which are kept in a file, to their end, and returns the header with the number of frames.
    ///
    /// Throws the errors of ``ImageVerifier`` as soon as possible, without reading the remainder. Starts over
    /// whenever the pieces do, which the number of attempts limits. `named` is called when the format is known,
    /// before most of the file is written. `admission` is called with the header as soon as it is known, and can throw
    /// an error to end the check.
    func run(
        _ pieces: StoredPieces, named: (ImageFormat) -> Void, admission: (ImageHeader) throws -> Void
    ) async throws -> ImageHeader {
        while true {
            do {
                return try await attempt(pieces, named, admission)
            } catch is BodyRestarted {
            } catch let error as CodecError where keepsDamaged && error.leavesPixels {
                do { _ = try await pieces.store(upTo: .max) } catch is BodyRestarted { continue }
                throw Damaged(cause: error)
            }
        }
    }

    private func attempt(
        _ pieces: StoredPieces, _ named: (ImageFormat) -> Void, _ admission: (ImageHeader) throws -> Void
    ) async throws -> ImageHeader {
        var check = makeCheck()
        var isFirst = true
        while check.header == nil, pieces.storedCount < pieces.maximumHeldBytes,
            let piece = try await pieces.nextPiece(beforeStoring: { piece in
                // Metadata can delay the header.
                if isFirst, let format = ImageFormat(signature: piece.span) { named(format) }
            })
        {
            try check.append(piece.span)
            if let format = check.header?.format { named(format) }
            isFirst = false
        }
        if let header = check.header { try admission(header) }
        var bytes = 0
        var isRead = true
        if check.header == nil, pieces.storedCount >= pieces.maximumHeldBytes {
            let limit = check.maximumHeaderBytes
            check = makeCheck()
            isRead = false
            bytes = try await pieces.search(upTo: limit, decoder) {
                try memory.admit($0, to: "check")
            } _: { [check] piece in
                if check.expectedLength == nil { check.expectedLength = pieces.expectedLength }
                if let piece { try check.append(piece.span) } else { try check.lookForHeaderAtEnd() }
                return check.header != nil
            }
        } else {
            try check.lookForHeaderAtEnd()
        }
        // A file without a header has no estimate; the check throws the reason.
        guard let estimate = check.estimatedBytes else { return try check.finish() }
        bytes = estimate.saturatingSum(check.needsWholeFile ? 0 : bytes)
        try memory.admit(bytes, to: "check")
        if isRead, bytes <= MemoryLimits.small {
            pieces.suspendReading()
        } else {
            // A slow or stalled server must not hold much memory while other images wait for it.
            check = makeCheck()
            _ = try await pieces.store(upTo: .max)
            try pieces.rewind()
        }
        guard bytes > 0 else { return try await finished(check, pieces) }
        return try await decoder.withMemory(bytes) { try await finished(check, pieces) }
    }

    private func finished(_ check: any FileCheck, _ pieces: StoredPieces) async throws -> ImageHeader {
        check.expectedLength = pieces.expectedLength
        repeat {
            // As soon as the header is known.
            try check.begin()
            guard let piece = try await pieces.nextPiece() else { return try check.finish() }
            try check.append(piece.span)
        } while true
    }

    private func makeCheck() -> any FileCheck {
        let limits = decoder.configuration.limits
        return switch extent {
        case .header: ImageHeaderReader(limits: limits, customFormats: CommandFormats.custom)
        case .everything: ImageVerifier(limits: limits, customFormats: CommandFormats.custom)
        }
    }
}

/// A check of a file whose bytes are appended.
private protocol FileCheck: AnyObject {
    var header: ImageHeader? { get }
    /// The memory of the check, in bytes; `nil` until the header is known.
    var estimatedBytes: Int? { get }
    /// A Boolean value that indicates whether the format needs the whole file, whose bytes
    /// ``estimatedBytes`` then includes.
    var needsWholeFile: Bool { get }
    var maximumHeaderBytes: Int { get }
    var expectedLength: Int? { get set }
    func append(_ bytes: Span<UInt8>) throws(CodecError)
    func lookForHeaderAtEnd() throws(CodecError)
    func begin() throws(CodecError)
    func finish() throws(CodecError) -> ImageHeader
}

extension ImageVerifier: FileCheck {}

extension ImageHeaderReader: FileCheck {
    fileprivate var estimatedBytes: Int? { header == nil ? nil : 0 }
    fileprivate var needsWholeFile: Bool { false }
    fileprivate func lookForHeaderAtEnd() throws(CodecError) { if header == nil { _ = try finish() } }
    fileprivate func begin() {}
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
