import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(5)))
struct GIFVerifierTests {
    private func error(_ file: [UInt8], _ limits: DecodeLimits = DecodeLimits()) -> CodecError? {
        do throws(CodecError) {
            _ = try ImageVerifier.verify(file.span, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    private func file(pixels: [Int]) -> [UInt8] {
        TestGIF(width: 4, height: 3).file(
            pixels.map { TestGIF.Frame(width: 4, height: 3, indices: [UInt8](repeating: 1, count: $0)) })
    }

    @Test(arguments: SmallFile.gif)
    func gifCutAnywhereFailsVerificationUnlessItsFramesAreThere(file: SmallFile) throws {
        for end in 0..<file.bytes.count {
            let cut = Array(file.bytes[..<end])
            guard error(cut) == nil else { continue }
            #expect(try ImageVerifier.verify(cut.span).warnings == [.missingEnd], "\(end) bytes")
            #expect(try !AnimatedImage(cut).isPartial, "\(end) bytes")
        }
    }

    @Test func gifVerifierRejectsFramesWithTooFewPixels() {
        #expect(error(file(pixels: [12, 12, 12])) == nil)
        #expect(error(file(pixels: [12, 11, 12])) == .corrupt(.gif, "the image has too few pixels"))
        #expect(error(file(pixels: [12, 12, 0])) == .corrupt(.gif, "the image has too few pixels"))
    }

    @Test func unknownGIFBlockFailsVerification() throws {
        var file = file(pixels: [12])
        file.insert(0x77, at: file.count - 1)
        #expect(throws: Never.self) { try decode(file) }
        #expect(error(file) == .corrupt(.gif, "a block that begins with 119"))
    }

    @Test func gifVerifierCountsEachFrameAsAWholeCanvas() {
        let small = TestGIF.Frame(width: 1, height: 1, indices: [0])
        let file = TestGIF(width: 100, height: 100).file([small, small, small])
        #expect(error(file, DecodeLimits(maximumWork: 60_000)) == nil)
        #expect(
            error(file, DecodeLimits(maximumWork: 59_999)) == .overLimit(.work, value: 60_000, limit: 59_999))
        #expect(error(file, DecodeLimits(maximumFrames: 2)) == .overLimit(.frames, value: 3, limit: 2))
    }

    @Test func gifVerifierNeedsNoMemoryForTheCanvas() {
        let header = ImageHeader(format: .gif, size: PixelSize(width: 65_535, height: 4096))
        #expect(GIFVerifier.workingBytes(of: header, beginning: [UInt8]().span) < 1 << 20)
    }

    @Test func lzwLengthsInVerifierEqualThoseOfTheDecoder() throws {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let codeSize = Int.random(in: 1...11, using: &random)
            let data = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
            let reference = Result { () throws(LZWDecoder.Failure) in
                var decoder = try LZWDecoder(codeSize: codeSize)
                var count = 0
                for byte in data {
                    decoder.append(byte)
                    while let length = try decoder.nextString() { count += length }
                }
                return count
            }
            let result = Result { () throws(LZWDecoder.Failure) in
                var lengths = try LZWLengths(codeSize: codeSize, limit: .max)
                try lengths.append(data.span)
                return lengths.pixelCount
            }
            #expect((try? result.get()) == (try? reference.get()), "seed \(seed)")
        }
    }
}
