import AsyncWebImage
import ImageCodecs
import Hashing

/// The pieces of a file, whose digest is computed, and in which Exif data and a gain map are found, by the task that
/// reads them.
final class ScannedPieces: ImagePieces {
    /// What is looked for.
    struct Search: OptionSet {
        let rawValue: Int
        static let exif = Search(rawValue: 1)
        static let gainMap = Search(rawValue: 2)
    }

    private let pieces: any ImagePieces
    private let algorithm: DigestAlgorithm?
    private var digest: MessageDigest
    private let search: Search
    private var exifScanner = ExifScanner()
    private var gainMapScanner = GainMapScanner()
    /// The number of bytes received.
    private(set) var count = 0

    init(_ pieces: any ImagePieces, _ algorithm: DigestAlgorithm? = nil, for search: Search) throws {
        self.pieces = pieces
        self.algorithm = algorithm
        self.search = search
        digest = try MessageDigest(algorithm ?? .sha256)
    }

    func next() async throws -> [UInt8]? {
        do {
            guard let piece = try await pieces.next() else { return nil }
            count += piece.count
            if algorithm != nil { digest.update(piece) }
            if search.contains(.exif) { exifScanner.append(piece.span) }
            if search.contains(.gainMap) { gainMapScanner.append(piece.span) }
            return piece
        } catch let error as StartedOver {
            count = 0
            try digest.reset()
            (exifScanner, gainMapScanner) = (ExifScanner(), GainMapScanner())
            throw error
        }
    }

    /// Reads the rest of the body; returns `false` if it starts over.
    func drain() async throws -> Bool {
        do {
            while try await next() != nil {}
            return true
        } catch is StartedOver {
            return false
        }
    }

    /// Returns the digest of the complete body; `nil` if none is computed.
    func finish() throws -> [UInt8]? { algorithm == nil ? nil : try digest.finish() }

    /// The Exif data found so far; `nil` if there are none.
    var exif: [UInt8]? { exifScanner.exif }

    /// Returns the gain map, which is at the end of the file; `nil` if there is none.
    ///
    /// Throws the errors of ``next()``.
    func gainMap() async throws -> [UInt8]? {
        while try await next() != nil {}
        return gainMapScanner.gainMap
    }

    func suspendReading() { pieces.suspendReading() }
    var source: String? { pieces.source }
    var expectedCount: Int? { pieces.expectedCount }
    var head: ResponseHead? { pieces.head }
}
