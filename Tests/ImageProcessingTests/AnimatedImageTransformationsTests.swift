import ImageCodecs
import ImageProcessing
import ImageTestSupport
import Testing

/// Transformations of the frames of an animation.
struct AnimatedImageTransformationsTests {
    private func sample() throws -> AnimatedImage {
        try AnimatedImage(animation(of: TestImages.wanderingSquare(3), as: .png))
    }

    @Test func laterTransformationsFollowEarlierOnes() throws {
        let first: [ImageTransformation] = [.pad(left: 3, color: .white), .rotate(degrees: 90)]
        let second: [ImageTransformation] = [.crop(x: 0, y: 1, width: 9, height: 20), .grayscale]
        let image = try sample()
        let separate = try image.applying(first).applying(second)
        let joined = try image.applying(first + second)
        #expect(separate.size == PixelSize(width: 9, height: 20))
        #expect(try separate.allFrames() == joined.allFrames())
        #expect(separate.estimatedBytes >= joined.estimatedBytes)
    }

    @Test func canceledTaskIsNoFailureOfATransformation() async throws {
        let image = try sample().applying([.grayscale])
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try AnimationDecoder(image).frame(at: 0)
        }
        await #expect(throws: CodecError.cancelled(.png)) { try await task.value }
    }

    @Test func framesMustHaveTheDeclaredSize() throws {
        let smaller = ImageTransformation.custom(identifier: "smaller", workingBytes: { $0.area * 4 }) {
            try $0.applying([.crop(x: 0, y: 0, width: 5, height: 4)])
        }
        let decoder = AnimationDecoder(try sample().applying([smaller]))
        #expect(
            throws: CodecError.transformationFailed(
                "animation", "the frame of 5x4 does not have the declared size 24x16")
        ) {
            try decoder.frame(at: 0)
        }
    }
}
