import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Frames of which only a part is computed, compared with the whole canvas, scaled and turned at once.
@Suite(.timeLimit(.minutes(5)))
struct FrameRendererTests {
    static let size = PixelSize(width: 23, height: 17)
    static let targets: [DecodeOptions.Target] = [
        .original, .maximumSide(7), .maximumSide(40), .fill(PixelSize(width: 9, height: 5)),
        .fill(PixelSize(width: 5, height: 17)), .fit(PixelSize(width: 23, height: 4)),
    ]

    /// The picture that results from frames, drawn in the simplest way.
    private struct Picture {
        var pixels = PixelBuffer(transparent: FrameRendererTests.size)
        var before = PixelBuffer(transparent: FrameRendererTests.size)
        var last: StoredFrame?

        mutating func paint(_ frame: StoredFrame, _ rows: [UInt8]) {
            if let last {
                if last.disposal == .background { fill(last) { _ in 0 } }
                if last.disposal == .previous { pixels = before }
            }
            before = pixels
            fill(frame) { rows[$0] }
            last = frame
        }

        private mutating func fill(_ frame: StoredFrame, _ byte: (Int) -> UInt8) {
            for y in 0..<frame.size.height {
                for index in 0..<frame.size.width * 4 {
                    let place = ((frame.top + y) * pixels.width + frame.left) * 4 + index
                    pixels.bytes[place] = byte(y * frame.size.width * 4 + index)
                }
            }
        }
    }

    private static func frame(_ random: inout SeededGenerator) -> (frame: StoredFrame, rows: [UInt8]) {
        let width = Int.random(in: 1...(Bool.random(using: &random) ? 3 : size.width), using: &random)
        let height = Int.random(in: 1...(Bool.random(using: &random) ? 3 : size.height), using: &random)
        var frame = StoredFrame(
            left: Int.random(in: 0...size.width - width, using: &random),
            top: Int.random(in: 0...size.height - height, using: &random),
            size: PixelSize(width: width, height: height), delay: .zero, data: [])
        frame.disposal = [.keep, .background, .previous].randomElement(using: &random) ?? .keep
        let rows = (0..<width * height * 4).map { index in
            index % 4 == 3 && Bool.random(using: &random) ? 255 : UInt8.random(in: 0...255, using: &random)
        }
        return (frame, rows)
    }

    @Test(arguments: Resampling.Filter.allCases, targets)
    func partialRenderingEqualsFullRendering(filter: Resampling.Filter, target: DecodeOptions.Target) throws {
        var random = SeededGenerator(seed: 7)
        for value in 1...8 {
            let orientation = try #require(ImageOrientation(rawValue: value))
            let format = PixelFormat.allCases[value % PixelFormat.allCases.count]
            let options = DecodeOptions(
                target: target, resampling: Resampling(filter: filter, usesLinearLight: value % 3 == 0),
                allowsUpscaling: true, pixelFormat: format)
            var header = ImageHeader(format: .png, size: Self.size)
            header.orientation = orientation
            header.hasAlpha = true
            let plan = try DecodePlan(header: header, options: options, format: PNGFormat())
            var renderer = FrameRenderer(plan, options)
            let canvas = try AnimationCanvas(
                size: Self.size, window: renderer.window, blending: .exact, handsOutPixels: false)
            var picture = Picture()
            for step in 0..<8 {
                for _ in 0..<(step == 5 ? 6 : 1) {
                    let (frame, rows) = Self.frame(&random)
                    picture.paint(frame, rows)
                    canvas.begin(frame)
                    for y in 0..<frame.size.height {
                        let rowBytes = frame.size.width * 4
                        canvas.append(row: rows.span.extracting(y * rowBytes..<(y + 1) * rowBytes))
                    }
                    #expect(canvas.isFrameComplete)
                }
                renderer.update(from: canvas)
                let whole = picture.pixels.turned(
                    orientation, region: plan.rowRegion, scaledTo: plan.scaledSize, resampling: options.resampling,
                    format: format)
                let isEqual = renderer.pixels == whole
                #expect(isEqual, "\(orientation), \(format), step \(step)")
            }
            try canvas.clear()
            renderer.update(from: canvas)
            #expect(renderer.pixels == PixelBuffer(transparent: plan.outputSize, format: format))
        }
    }

    @Test(arguments: Resampling.Filter.allCases)
    func smallFrameChangeAffectsFewScaledPixels(filter: Resampling.Filter) {
        let weights = ResamplingWeights(from: 10_000, to: 100, filter: filter)
        let samples = weights.samples(influencedBy: 5_000..<5_001)
        #expect(samples.contains(50) && samples.count <= 7)
        #expect(weights.samples(influencedBy: 0..<10_000) == 0..<100)
        let cut = ResamplingWeights(from: 10_000, start: 4_000, length: 1_000, to: 10, filter: filter)
        #expect(cut.samples(influencedBy: 0..<3_000).isEmpty && cut.samples(influencedBy: 7_000..<10_000).isEmpty)
    }
}
