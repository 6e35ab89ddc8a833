import ImageCodecs
import ImageProcessing
import Testing
import VipsLoop

@testable import Scenarios

@Suite struct TransformTests {
    private func subject(_ engine: TransformEngine, _ work: Transform.Work) -> Transform.Case {
        Transform.Case(engine: engine.rawValue, work: work, images: 1)
    }

    @Test(arguments: TransformEngine.allCases, [Transform.Work.avatar, .softAvatar])
    func workCanBeRepeated(engine: TransformEngine, work: Transform.Work) throws {
        let (width, height) = (work.size.width, work.size.height)
        let pictures = try (0..<2).map { try Photograph.pixels(width: width, height: height, number: $0) }
        // libvips does not have to be installed.
        guard engine == .pixels || vips_loop_open(1) else { return }
        let run = try engine.work(work, on: pictures)
        for number in 0..<3 { try run(number) }
    }

    /// libvips ends its Gaussian earlier, so that the results differ a little.
    @Test(.enabled(if: vips_loop_open(1))) func librariesBlurEqually() throws {
        let picture = try Photograph.pixels(width: 200, height: 150)
        let expected = try picture.applying([.blur(sigma: Transform.sigma)]).bytes
        var bytes = [UInt8](repeating: 0, count: expected.count)
        #expect(unsafe vips_loop_blur(picture.bytes, 200, 150, 4, Transform.sigma, &bytes))
        let differences = zip(bytes, expected).map { abs(Int($0) - Int($1)) }
        #expect(differences.reduce(0, +) < 2 * differences.count)
    }

    @Test func packageIsComparedToTheFasterUseOfVips() {
        var repetition = Repetition<Transform.Case>()
        for (engine, milliseconds) in [(TransformEngine.pixels, 6.0), (.vips, 3), (.vipsThread, 12)] {
            for work in [Transform.Work.avatar, .blur] {
                repetition[subject(engine, work)] = Measurements()
                repetition[subject(engine, work)]?[.wall] = milliseconds
            }
        }
        #expect(Transform.compare(subject(.pixels, .blur), in: repetition)[.ratioToVipsLoop] == 2)
        #expect(Transform.compare(subject(.pixels, .avatar), in: repetition)[.ratioToVipsLoop] == 0.5)
        #expect(Transform.compare(subject(.vips, .blur), in: repetition)[.ratioToVipsLoop] == nil)
    }
}
