import Testing

@testable import ImageCodecs

@Suite
struct StoredFrameTests {
    private static let canvas = PixelSize(width: 4, height: 4)

    private static func frame(
        _ disposal: StoredFrame.Disposal, _ blend: StoredFrame.Blend, coversAll: Bool
    ) -> StoredFrame {
        let side = coversAll ? 4 : 2
        return StoredFrame(
            left: 0, top: 0, size: PixelSize(width: side, height: side), delay: .zero, disposal: disposal, blend: blend,
            data: [])
    }

    @Test
    func framesShowingNothingOfEarlierOnesAreIndependent() throws {
        let frames = [
            Self.frame(.keep, .over, coversAll: false),  // the first
            Self.frame(.keep, .over, coversAll: true),
            Self.frame(.keep, .source, coversAll: false),
            Self.frame(.keep, .source, coversAll: true),  // covers everything
            Self.frame(.previous, .source, coversAll: true),  // covers it, but restores the previous contents
            Self.frame(.background, .over, coversAll: true),
            Self.frame(.background, .over, coversAll: false),  // on a canvas that was cleared
            Self.frame(.previous, .over, coversAll: false),  // again
            Self.frame(.keep, .over, coversAll: false),  // and again
            Self.frame(.keep, .over, coversAll: false),
        ]
        var index = AnimationIndex(
            header: ImageHeader(format: .gif, size: Self.canvas), format: GIFFormat(), limits: DecodeLimits())
        for frame in frames { try index.add(frame) }
        #expect(index.frames.map(\.isIndependent) == [true, false, false, true, false, false, true, true, true, false])
    }
}
