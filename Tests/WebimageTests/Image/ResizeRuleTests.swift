import AsyncWebImage
import ImageCodecs
import Testing

@testable import webimage

/// The sizes of images, compared with those that img2dataset's `Resizer` computes.
struct ResizeRuleTests {
    struct Example {
        var mode: ResizeRule.Mode
        var leavesSmallerImages = false
        var image: (Int, Int)
        var target: DecodeOptions.Target
        var enlarges = false
        var hasMargins = false
    }

    private static let square = DecodeOptions.Target.fill(PixelSize(width: 256, height: 256))

    @Test(arguments: [
        Example(mode: .border, image: (257, 9), target: .maximumSide(256), hasMargins: true),
        Example(mode: .border, image: (256, 9), target: .maximumSide(256), enlarges: true, hasMargins: true),
        Example(
            mode: .border, leavesSmallerImages: true, image: (9, 257), target: .maximumSide(256), hasMargins: true),
        Example(mode: .border, leavesSmallerImages: true, image: (256, 9), target: .original),
        Example(mode: .keepRatioLargest, image: (257, 9), target: .maximumSide(256)),
        Example(mode: .keepRatioLargest, image: (9, 9), target: .maximumSide(256), enlarges: true),
        Example(mode: .keepRatioLargest, leavesSmallerImages: true, image: (9, 256), target: .original),
        Example(mode: .keepRatio, image: (300, 257), target: .shorterSide(256)),
        Example(mode: .keepRatio, image: (300, 256), target: .shorterSide(256), enlarges: true),
        Example(mode: .keepRatio, leavesSmallerImages: true, image: (300, 256), target: .original),
        Example(mode: .centerCrop, image: (300, 257), target: square),
        Example(mode: .centerCrop, image: (300, 9), target: square, enlarges: true),
        Example(mode: .centerCrop, leavesSmallerImages: true, image: (300, 257), target: square),
        // Not even cropped.
        Example(mode: .centerCrop, leavesSmallerImages: true, image: (300, 256), target: .original),
    ])
    func sizeDependsOnWhetherTheImageIsLarger(example: Example) {
        let rule = ResizeRule(mode: example.mode, side: 256, leavesSmallerImages: example.leavesSmallerImages)
        let size = PixelSize(width: example.image.0, height: example.image.1)
        let options = rule.applied(to: DecodeOptions(resampling: Resampling(filter: .box)), for: size)
        #expect(options.target == example.target)
        #expect(options.allowsUpscaling == example.enlarges)
        #expect(options.resampling.filter == (example.enlarges ? .lanczos3 : .box))
        #expect(rule.canvas(for: size) == (example.hasMargins ? PixelSize(width: 256, height: 256) : nil))
    }
}
