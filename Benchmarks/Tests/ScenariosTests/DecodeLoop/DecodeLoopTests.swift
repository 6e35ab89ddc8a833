import ImageCodecs
import Testing

@testable import Scenarios

@Suite struct DecodeLoopTests {
    @Test(arguments: DecodeLoopEngine.allCases)
    func everyPartOfADecodeCompletesRepeatedly(engine: DecodeLoopEngine) async throws {
        try await withTemporaryFolder { folder in
            let size = PixelSize(width: 320, height: 200)
            let picture = try FixtureFolder(path: folder).jpeg(width: size.width, height: size.height)
            let work = engine.work(try File.read(picture.path), size: size, maximumSide: 100)
            try work()
            try work()
        }
    }

    @Test func damagedFileIsAMismatchForLibjpeg() {
        let work = DecodeLoopEngine.libjpeg.work([1, 2, 3], size: PixelSize(width: 8, height: 8), maximumSide: 8)
        #expect(throws: Mismatch.self) { try work() }
    }

    @Test func decoderIsComparedToCodecAndFilterTogether() {
        var repetition = Repetition<DecodeLoop.Case>()
        for (engine, milliseconds) in [("decoder", 6.0), ("libjpeg", 3), ("filter", 2)] {
            repetition[subject(engine)] = Measurements()
            repetition[subject(engine)]?[.wall] = milliseconds
        }
        #expect(DecodeLoop.compare(subject("decoder"), in: repetition)[.ratioToLimit] == 1.2)
        #expect(DecodeLoop.compare(subject("libjpeg"), in: repetition)[.ratioToLimit] == nil)
    }

    private func subject(_ engine: String) -> DecodeLoop.Case {
        DecodeLoop.Case(engine: engine, megapixels: 1, maximumSide: 256)
    }
}
