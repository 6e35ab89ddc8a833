import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

struct JPEGSegmentsTests {
    private func progressive() throws -> [UInt8] {
        try TestImage.photo(80, 60).encoded(as: .jpeg, quality: 95, isProgressive: true)
    }

    /// Returns the pieces for the codec, fed in pieces of `step` bytes.
    private func kept(
        of file: [UInt8], step: Int = .max, sampling: [UInt8] = [0x11, 0x11, 0x11], hasManyPixels: Bool = false
    ) throws -> (bytes: [UInt8], JPEGSegments) {
        let side = hasManyPixels ? 8000 : 80
        var header = ImageHeader(format: .jpeg, size: PixelSize(width: side, height: side))
        header.isProgressive = true
        header.sampling = sampling.map { SamplingFactors(byte: $0) }
        var segments = JPEGSegments(for: try #require(JPEGCoarseDecode(of: header, at: .eighth(of: header.size))))
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

    /// The channel, first coefficient, and last bit of every scan of one channel.
    private func details(of file: [UInt8]) -> [[UInt8]] {
        file.indices.dropLast(20).filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA && file[$0 + 4] == 1 }
            .map { [file[$0 + 5], file[$0 + 7], file[$0 + 9] & 15] }
    }

    /// The first coefficient of every scan.
    private func scans(of file: [UInt8]) -> [UInt8] {
        file.indices.dropLast(20).filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA }.map { at in
            file[at + 5 + 2 * Int(file[at + 4])]
        }
    }

    @Test func jpegSegmentsOmitDetailScans() throws {
        let file = try progressive()
        let (bytes, segments) = try kept(of: file)
        #expect(scans(of: file).count == 10)
        #expect(scans(of: bytes) == [0, 0])
        #expect(bytes.count < file.count / 3)
        #expect(bytes.prefix(2) == [0xFF, 0xD8] && bytes.suffix(2) == [0xFF, 0xD9])
        #expect(segments.scanCount == 10)
        #expect(segments.hasEnded && segments.hasAllCoefficients)
    }

    @Test func jpegSegmentsContainTheDetailOfChannelsSampledMoreCoarsely() throws {
        let file = try TestImage.photo(80, 60).encoded(as: .jpeg, quality: 80, isProgressive: true)
        let coarse: [UInt8] = [0x22, 0x11, 0x11]
        // The last scan of the file, of the first channel, is not needed.
        let (bytes, segments) = try kept(of: file, sampling: coarse)
        #expect(details(of: bytes) == [[3, 1, 1], [2, 1, 1], [3, 1, 0], [2, 1, 0]])
        #expect(segments.hasAllCoefficients)
        let large = try kept(of: file, sampling: coarse, hasManyPixels: true)
        #expect(details(of: large.bytes) == [[3, 1, 1], [2, 1, 1]])
        #expect(large.1.hasAllCoefficients)
        // Chroma with half the columns of lightness, but all its rows.
        #expect(try details(of: kept(of: file, sampling: [0x21, 0x11, 0x11]).bytes).isEmpty)
    }

    @Test func coefficientsOfSeveralBandsAreCompleteAfterTheLastBitOfEach() throws {
        func scan(_ channel: UInt8, _ band: ClosedRange<UInt8>, _ bits: UInt8) -> [UInt8] {
            [0xFF, 0xDA, 0, 8, 1, channel, 0, band.lowerBound, band.upperBound, bits, 1, 2, 3]
        }
        let means = scan(1, 0...0, 0) + scan(2, 0...0, 0)
        let bands = means + scan(2, 1...2, 0) + scan(2, 3...63, 1)
        let refined = bands + scan(2, 3...63, 0x10)
        let others = scan(1, 1...63, 0) + scan(2, 1...63, 0)
        for (file, isComplete) in [(means, false), (bands, false), (refined, true), (refined + others, true)] {
            let (bytes, segments) = try kept(of: file + [0xFF, 0xD9], sampling: [0x22, 0x11])
            #expect(bytes == file.prefix(refined.count) + [0xFF, 0xD9])
            #expect(segments.hasAllCoefficients == isComplete)
        }
        #expect(try kept(of: bands + [0xFF, 0xD9], sampling: [0x22, 0x11], hasManyPixels: true).1.hasAllCoefficients)
    }

    @Test func scansReferToChannelsByTheNumbersOfTheFrameHeader() throws {
        let frame: [UInt8] = [0xFF, 0xC2, 0, 14, 8, 0, 80, 0, 80, 2, 7, 0x22, 0, 9, 0x11, 0]
        let means: [UInt8] = [0xFF, 0xDA, 0, 10, 2, 7, 0, 9, 0, 0, 0, 0, 1, 2, 3]
        let detail: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 9, 0, 1, 63, 0, 1, 2, 3]
        let (bytes, segments) = try kept(of: frame + means + detail + [0xFF, 0xD9], sampling: [0x22, 0x11])
        #expect(bytes == frame + means + detail + [0xFF, 0xD9])
        #expect(segments.hasAllCoefficients)
    }

    @Test(arguments: [1, 2, 3, 7, 100]) func jpegSegmentsDoNotDependOnPieceSizes(step: Int) throws {
        let file = try progressive()
        #expect(try kept(of: file, step: step).bytes == kept(of: file).bytes)
    }

    @Test func jpegWithOneScanIsKeptWhole() throws {
        let file = try TestImage.photo(80, 60).encoded(as: .jpeg, quality: 95)
        let (bytes, segments) = try kept(of: file)
        #expect(bytes == file)
        #expect(segments.hasAllCoefficients)
    }

    @Test func dcCoefficientsAreCompleteAfterTheLastBitOfEveryChannel() throws {
        func scan(_ channels: [UInt8], low: UInt8) -> [UInt8] {
            let header: [UInt8] = [UInt8(channels.count)] + channels.flatMap { [$0, 0] as [UInt8] } + [0, 0, low]
            return [0xFF, 0xDA, 0, UInt8(header.count + 2)] + header + [1, 2, 0xFF, 0, 0xFF, 0xD0, 3]
        }
        let end: [UInt8] = [0xFF, 0xFF, 0xD9]
        #expect(try !kept(of: scan([1, 2, 3], low: 1) + end).1.hasAllCoefficients)
        #expect(try kept(of: scan([1, 2, 3], low: 1) + scan([1, 2, 3], low: 0x10) + end).1.hasAllCoefficients)
        #expect(try !kept(of: scan([1, 2], low: 0) + scan([2, 1], low: 0) + end).1.hasAllCoefficients)
        #expect(try kept(of: scan([1, 2], low: 0) + scan([3], low: 0) + end).1.hasAllCoefficients)
        // A scan is complete where the next marker begins.
        #expect(try !kept(of: scan([1], low: 0), sampling: [0x11]).1.hasAllCoefficients)
    }

    @Test func invalidJPEGSegmentsArePassedToTheCodec() throws {
        for file: [UInt8] in [
            [0xFF, 0xDA, 0, 1, 0], [0xFF, 0xDA, 0, 8, 4, 0, 0, 0, 0, 0, 7], [0xFF, 0xDA, 0xFF, 0xFF, 1],
            [0xFF, 0xE0, 0, 0, 5, 6], [9, 9, 0xFF, 0xFF, 0xFF, 0x01, 0xFF, 0],
        ] {
            #expect(try kept(of: file).bytes == file)
        }
    }
}
