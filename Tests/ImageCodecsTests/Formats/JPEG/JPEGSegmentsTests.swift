import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

struct JPEGSegmentsTests {
    private func progressive() throws -> [UInt8] {
        try TestImage.photo(80, 60).encoded(as: .jpeg, quality: 95, isProgressive: true)
    }

    /// Returns the pieces for the codec, fed in pieces of `step` bytes.
    private func kept(of file: [UInt8], step: Int = .max, channelCount: Int = 3) -> (bytes: [UInt8], JPEGSegments) {
        var segments = JPEGSegments(channelCount: channelCount)
        var kept: [UInt8] = []
        for start in stride(from: 0, to: file.count, by: step) {
            let piece = file.span.extracting(start..<start + min(step, file.count - start))
            var offset = 0
            while offset < piece.count {
                switch segments.next(in: piece, from: &offset) {
                case .kept(let range): kept.append(piece.extracting(range))
                case .head(let head): kept += head
                case .skipped: break
                }
            }
        }
        return (kept, segments)
    }

    /// The first coefficient of every scan.
    private func scans(of file: [UInt8]) -> [UInt8] {
        file.indices.dropLast(20).filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA }.map { at in
            file[at + 5 + 2 * Int(file[at + 4])]
        }
    }

    @Test func jpegSegmentsOmitDetailScans() throws {
        let file = try progressive()
        let (bytes, segments) = kept(of: file)
        #expect(scans(of: file).count == 10)
        #expect(scans(of: bytes) == [0, 0])
        #expect(bytes.count < file.count / 3)
        #expect(bytes.prefix(2) == [0xFF, 0xD8] && bytes.suffix(2) == [0xFF, 0xD9])
        #expect(segments.scanCount == 10)
        #expect(segments.hasEnded && segments.hasAllDCCoefficients)
    }

    @Test(arguments: [1, 2, 3, 7, 100]) func jpegSegmentsDoNotDependOnPieceSizes(step: Int) throws {
        let file = try progressive()
        #expect(kept(of: file, step: step).bytes == kept(of: file).bytes)
    }

    @Test func jpegWithOneScanIsKeptWhole() throws {
        let file = try TestImage.photo(80, 60).encoded(as: .jpeg, quality: 95)
        let (bytes, segments) = kept(of: file)
        #expect(bytes == file)
        #expect(segments.hasAllDCCoefficients)
    }

    @Test func dcCoefficientsAreCompleteAfterTheLastBitOfEveryChannel() {
        func scan(_ channels: [UInt8], low: UInt8) -> [UInt8] {
            let header: [UInt8] = [UInt8(channels.count)] + channels.flatMap { [$0, 0] as [UInt8] } + [0, 0, low]
            return [0xFF, 0xDA, 0, UInt8(header.count + 2)] + header + [1, 2, 0xFF, 0, 0xFF, 0xD0, 3]
        }
        let end: [UInt8] = [0xFF, 0xFF, 0xD9]
        #expect(!kept(of: scan([1, 2, 3], low: 1) + end).1.hasAllDCCoefficients)
        #expect(kept(of: scan([1, 2, 3], low: 1) + scan([1, 2, 3], low: 0x10) + end).1.hasAllDCCoefficients)
        #expect(!kept(of: scan([1, 2], low: 0) + scan([2, 1], low: 0) + end).1.hasAllDCCoefficients)
        #expect(kept(of: scan([1, 2], low: 0) + scan([3], low: 0) + end).1.hasAllDCCoefficients)
        // A scan is complete where the next marker begins.
        #expect(!kept(of: scan([1], low: 0), channelCount: 1).1.hasAllDCCoefficients)
    }

    @Test func invalidJPEGSegmentsArePassedToTheCodec() {
        for file: [UInt8] in [
            [0xFF, 0xDA, 0, 1, 0], [0xFF, 0xDA, 0, 8, 4, 0, 0, 0, 0, 0, 7], [0xFF, 0xDA, 0xFF, 0xFF, 1],
            [0xFF, 0xE0, 0, 0, 5, 6], [9, 9, 0xFF, 0xFF, 0xFF, 0x01, 0xFF, 0],
        ] {
            #expect(kept(of: file).bytes == file)
        }
    }
}
