import AsyncWebImage
import Testing

/// The requirements that the header of an image meets or does not meet.
struct ImageRequirementsTests {
    private static let size = PixelSize(width: 400, height: 300)

    private static func header(frames: Int? = 1) -> ImageHeader {
        var header = ImageHeader(format: .webp, size: size)
        header.frameCount = frames
        return header
    }

    @Test(arguments: [
        ImageRequirements(), .init(minimumSide: 300), .init(maximumSide: 400), .init(maximumPixels: 120_000),
        .init(maximumAspectRatio: 4.0 / 3), .init(formats: [.webp]), .init(maximumFrames: 1),
    ])
    func imageAtTheLimitsMeetsTheRequirements(requirements: ImageRequirements) {
        #expect(requirements.violation(by: Self.header()) == nil)
    }

    @Test(arguments: [
        (
            ImageRequirements(minimumSide: 301), ImageRequirements.Violation.tooSmall(size, minimumSide: 301),
            "too_small"
        ),
        (.init(maximumSide: 399), .tooLarge(size, maximumSide: 399), "too_large"),
        (.init(maximumPixels: 119_999), .tooManyPixels(size, maximum: 119_999), "too_large"),
        (.init(maximumAspectRatio: 1.3), .aspectRatio(size, maximum: 1.3), "aspect_ratio"),
        (.init(formats: [.png, .gif]), .format(.webp), "unwanted_format"),
        (.init(maximumFrames: 2), .tooManyFrames(3, maximum: 2), "too_many_frames"),
    ])
    func unmetImageRequirementsHaveErrorCodes(
        requirements: ImageRequirements, violation: ImageRequirements.Violation, code: String
    ) {
        #expect(requirements.violation(by: Self.header(frames: 3)) == violation)
        let error = ImageError.unsuitable(violation, url: "https://example.com/photo.webp")
        #expect(error.code.rawValue == code && !error.isRetryable && error.url == "https://example.com/photo.webp")
    }

    @Test func anUnknownNumberOfFramesIsAccepted() {
        #expect(ImageRequirements(maximumFrames: 1).violation(by: Self.header(frames: nil)) == nil)
    }

    @Test func anEmptySetOfFormatsAcceptsNothing() {
        #expect(ImageRequirements(formats: []).violation(by: Self.header()) == .format(.webp))
    }
}
