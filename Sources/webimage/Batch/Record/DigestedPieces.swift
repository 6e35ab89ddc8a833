import AsyncWebImage
import ImageCodecs
import Hashing

/// The body of a response in pieces, whose digest is computed, and whose Exif data are found, by the task that
/// reads it.
final class DigestedPieces: ImagePieces {
    private let pieces: DownloadedPieces
    private let algorithm: DigestAlgorithm?
    private var digest: MessageDigest
    private let findsExif: Bool
    private var scanner = ExifScanner()
    /// The number of bytes received.
    private(set) var count = 0

    init(_ pieces: DownloadedPieces, _ algorithm: DigestAlgorithm?, findsExif: Bool) throws {
        self.pieces = pieces
        self.algorithm = algorithm
        self.findsExif = findsExif
        digest = try MessageDigest(algorithm ?? .sha256)
    }

    func next() async throws -> [UInt8]? {
        do {
            guard let piece = try await pieces.next() else { return nil }
            count += piece.count
            if algorithm != nil { digest.update(piece) }
            if findsExif { scanner.append(piece.span) }
            return piece
        } catch let error as ImageBytes.StartedOver {
            count = 0
            try digest.reset()
            scanner = ExifScanner()
            throw error
        }
    }

    /// Reads the rest of the body; returns `false` if it starts over.
    func drain() async throws -> Bool {
        do {
            while try await next() != nil {}
            return true
        } catch is ImageBytes.StartedOver {
            return false
        }
    }

    /// Returns the digest of the complete body; `nil` if none is computed.
    func finish() throws -> [UInt8]? { algorithm == nil ? nil : try digest.finish() }

    /// The Exif data found so far; `nil` if there are none.
    var exif: [UInt8]? { scanner.exif }

    func suspendReading() { pieces.suspendReading() }
    var source: String? { pieces.source }
    var head: ResponseHead? { pieces.head }
}
