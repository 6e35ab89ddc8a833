import ImageCodecs
import Threading

/// The metadata of a file that a session reads, before or after its pixels.
final class MetadataCollector: Sendable {
    private struct Scanners {
        var exif: ExifScanner?
        var gainMap: GainMapScanner?

        init(_ kinds: OutputRule.Metadata) {
            exif = kinds.contains(.exif) ? ExifScanner() : nil
            gainMap = kinds.contains(.gainMap) ? GainMapScanner() : nil
        }
    }

    private let kinds: OutputRule.Metadata
    private let scanners: Locked<Scanners>

    /// Creates a collector; returns `nil` if there is nothing to collect.
    init?(_ kinds: OutputRule.Metadata) {
        guard !kinds.isDisjoint(with: [.exif, .gainMap]) else { return nil }
        self.kinds = kinds
        scanners = Locked(Scanners(kinds))
    }

    func append(_ piece: [UInt8]) {
        scanners.withLock { scanners in
            scanners.exif?.append(piece.span)
            scanners.gainMap?.append(piece.span)
        }
    }

    /// Starts over with the first byte of the file.
    func reset() { scanners.withLock { $0 = Scanners(kinds) } }

    /// Gives up the gain map.
    func skipGainMap() { scanners.withLock { $0.gainMap = nil } }

    var exif: [UInt8]? { scanners.withLock { $0.exif?.exif } }

    var gainMap: [UInt8]? { scanners.withLock { $0.gainMap?.map } }
}
