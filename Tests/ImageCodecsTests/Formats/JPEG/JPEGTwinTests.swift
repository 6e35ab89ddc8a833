import Foundation
import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Baseline and progressive files with the same coefficients.
struct JPEGTwinTests {
    /// The sampling of lightness relative to color, each across and down, as in the options of `cjpeg`.
    static let samplings = ["1x1", "2x1", "1x2", "2x2", "4x1", "4x2", "1x4", "2x2,2x1", "1x2,2x2,1x1", "gray"]
    /// From less than an eighth to more than half of the side, which is no multiple of eight.
    static let (side, sides) = (257, [9, 16, 17, 21, 22, 25, 30, 32, 33, 43, 65, 140])

    /// Smooth colors between stripes of different widths and directions.
    static let image: PixelBuffer = {
        var image = PixelBuffer(transparent: PixelSize(width: side, height: 171))
        for y in 0..<image.height {
            for x in 0..<image.width {
                let (u, v) = (Double(x), Double(y))
                let colors = [
                    128 + 90 * sin(u / 9 + v / 31), 120 + 60 * sin(v / 7 - u / 40) + Double((x / 6 + y / 11) % 2) * 50,
                    128 + 100 * sin((u + v) / 13) * cos(v / 23),
                ]
                for (channel, value) in colors.enumerated() {
                    image.bytes[(y * side + x) * 4 + channel] = UInt8(max(0, min(255, value)))
                }
                image.bytes[(y * side + x) * 4 + 3] = 255
            }
        }
        return image
    }()

    /// The peak signal-to-noise ratio in decibels.
    private func ratio(_ image: PixelBuffer, to reference: PixelBuffer) -> Double {
        let squares = zip(image.bytes, reference.bytes).reduce(0) {
            $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1))
        }
        return 10 * log10(255 * 255 * Double(image.bytes.count) / Double(max(squares, 1)))
    }

    @Test(.enabled(if: TestJPEGScans.isAvailable, "cjpeg is not installed"), arguments: samplings)
    func progressiveJPEGsAreAsGoodAsBaselineOnesAtEverySize(sampling: String) throws {
        let options = "-quality 80 " + (sampling == "gray" ? "-grayscale" : "-sample \(sampling)")
        let baseline = try TestJPEGScans(name: "baseline", options: options).file(Self.image)
        let progressive = try TestJPEGScans(name: "progressive", options: options + " -progressive").file(Self.image)
        let whole = try decode(baseline).pixels
        #expect(try decode(progressive).pixels == whole)
        for side in Self.sides {
            let target = DecodeOptions(target: .maximumSide(side))
            let (one, other) = try (
                decode(baseline, options: target).pixels, decode(progressive, options: target).pixels
            )
            let reference = whole.turned(.up, scaledTo: one.size)
            #expect(other.size == one.size)
            #expect(ratio(other, to: reference) > ratio(one, to: reference) - 1, "\(side)")
            #expect(side <= 22 || other == one, "\(side)")
        }
    }

    @Test(.enabled(if: TestJPEGScans.isAvailable, "cjpeg is not installed"), arguments: TestJPEGScans.kinds)
    func colorsOfSmallImagesDoNotDependOnTheKindsOfScans(kind: TestJPEGScans) throws {
        let sampling = kind.options.split(separator: "-").first { $0.hasPrefix("sample ") }.map { "-" + $0 } ?? ""
        let baseline = try TestJPEGScans(name: "baseline", options: String(sampling)).file(Self.image)
        for side in [16, 21] {
            let target = DecodeOptions(target: .maximumSide(side))
            let (one, other) = try (
                decode(baseline, options: target).pixels, decode(kind.file(Self.image), options: target).pixels
            )
            #expect(ratio(other, to: one) > 45, "\(side)")
        }
    }
}
