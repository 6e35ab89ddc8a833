import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Damage between restart markers, which ends at the next one.
@Suite(
    .enabled(if: TestJPEGScans.isAvailable && ReferenceDecoder.has("djpeg"), "cjpeg or djpeg is not installed"),
    .timeLimit(.minutes(1)))
struct JPEGRestartTests {
    /// A change of a file whose data consists of intervals, each with its marker, except for the last one.
    enum Damage: CaseIterable {
        case cutInterval, emptyInterval, missingInterval, missingMarker, repeatedInterval, laterMarker, earlierMarker
        case excessBytes

        func apply(to intervals: inout [[UInt8]]) {
            let data = intervals[2].dropLast(2)
            let marker = intervals[2].suffix(2)
            switch self {
            case .cutInterval: intervals[2] = Array(data.prefix(data.count / 2) + marker)
            case .emptyInterval: intervals[2] = Array(marker)
            case .missingInterval: intervals.remove(at: 2)
            case .missingMarker: intervals[2] = Array(data)
            case .repeatedInterval: intervals.insert(intervals[2], at: 2)
            case .laterMarker: intervals[2] = Array(data + [0xFF, 0xD3])
            case .earlierMarker: intervals[2] = Array(data + [0xFF, 0xD1])
            case .excessBytes: intervals[2] = Array(data + [0x55, 0xAA, 0x55] + marker)
            }
        }
    }

    /// A file with an interval for each of its eight rows of MCUs.
    private static func file(_ options: String, _ damage: Damage? = nil) throws -> [UInt8] {
        let kind = TestJPEGScans(name: options, options: "-restart 1 \(options)")
        let file = try kind.file(TestImage.photo(21, options.contains("2x2") ? 125 : 61))
        let scan = try file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xDA }.unwrapped()
        let start = scan + 2 + Int(file[scan + 3])
        var intervals: [[UInt8]] = []
        var begin = start
        for end in start + 2...file.count where file[end - 2] == 0xFF && file[end - 1] >= 0xD0 {
            intervals.append(Array(file[begin..<end]))
            begin = end
        }
        try #require(intervals.count == 8)
        damage?.apply(to: &intervals)
        return Array(file[..<start]) + intervals.joined()
    }

    @Test(arguments: ["-grayscale", "-sample 1x1", "-sample 2x2"])
    func rowsAfterTheNextRestartMarkerAreUndamaged(options: String) throws {
        let whole = try decode(Self.file(options)).pixels
        let image = try decode(
            Self.file(options, .cutInterval), options: DecodeOptions(allowsPartial: true))
        #expect(image.isPartial && image.completeRows == whole.height)
        let rows = (0..<whole.height).filter { y in
            let row = y * whole.rowBytes..<(y + 1) * whole.rowBytes
            return image.pixels.bytes[row] != whole.bytes[row]
        }
        // The third of eight intervals; smooth chroma reaches one row further.
        let damaged = options.contains("2x2") ? 31...48 : 16...23
        #expect(!rows.isEmpty && rows.allSatisfy(damaged.contains), "\(rows)")
    }

    @Test(arguments: Damage.allCases, ["-grayscale", "-sample 1x1", "-sample 2x2"])
    func damagedIntervalsHaveThePixelsOfDjpeg(damage: Damage, options: String) throws {
        let file = try Self.file(options, damage)
        let header = try probe(file).unwrapped()
        for eighths in [1, 2, 8] {
            let reference = try ReferenceDecoder.decodeJPEG(file, eighths: eighths, isDamaged: true)
            for step in [1, file.count] {
                let decoder = try JPEGRowDecoder(
                    header: header, rowSize: reference.size, limits: DecodeLimits(), toleratesDamage: true)
                let canvas = OrientedCanvas(stored: reference.size, orientation: .up)
                for start in stride(from: 0, to: file.count, by: step) {
                    try decoder.append(file.span.extracting(start..<start + step), to: canvas)
                }
                try decoder.finish(to: canvas)
                #expect(canvas.pixels.rgb == reference.rgb, "\(eighths)/8 in pieces of \(step)")
            }
        }
    }
}
