import ImageTestSupport
import Testing

@testable import ImageCodecs

/// The frames that show damage, if partial images are allowed.
struct PartialFramesTests {
    /// Returns the partial frames of an animation of four frames that are drawn over each other, after `change`; some
    /// are damaged, but not the first.
    private func partialFrames(
        damaged: [Int], _ change: (inout [TestAnimation.Layer]) -> Void = { _ in }
    ) throws -> Set<Int> {
        var layers = TestAnimation.layers(1, seed: 4, alphas: [255])
        (layers[0].disposal, layers[0].isOver) = (.keep, true)
        layers = Array(repeating: layers[0], count: 4)
        change(&layers)
        var file = TestAnimation.apng(layers)
        let data = file.indices.filter { file[$0...].starts(with: Array("fdAT".utf8)) }
        // The second frame is the first with such chunks; each has two.
        for frame in damaged { file[data[frame * 2 - 2] + 20] ^= 1 }
        let image = try AnimatedImage(file, options: DecodeOptions(allowsPartial: true))
        let decoder = AnimationDecoder(image, windowBytes: 0)
        for index in layers.indices { _ = try decoder.frame(at: index) }
        return decoder.partialFrames
    }

    @Test func framesOverADamagedOneArePartial() throws {
        #expect(try partialFrames(damaged: [1]) == [1, 2, 3])
    }

    @Test func frameThatReplacesADamagedOneIsComplete() throws {
        #expect(try partialFrames(damaged: [1]) { $0[2].isOver = false } == [1])
    }

    @Test(arguments: [TestAnimation.Layer.Disposal.background, .previous])
    func framesAfterADamagedOneThatIsRemovedAreComplete(disposal: TestAnimation.Layer.Disposal) throws {
        let partial = try partialFrames(damaged: [1]) { layers in
            // Only a part, so that the canvas is not empty afterward.
            layers[1].pixels.removeLast(layers[1].width * 4)
            layers[1].height -= 1
            layers[1].disposal = disposal
        }
        #expect(partial == [1])
    }

    @Test func removalOfADamagedFrameLeavesTheDamageBelow() throws {
        #expect(try partialFrames(damaged: [1, 2]) { $0[2].disposal = .previous } == [1, 2, 3])
    }
}
