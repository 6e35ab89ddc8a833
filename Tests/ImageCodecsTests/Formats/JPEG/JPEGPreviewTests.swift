import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Previews of files of several scans, rendered smaller than the image.
@Suite(.timeLimit(.minutes(1)))
struct JPEGPreviewTests {
    typealias Kind = JPEGRowDecoderTests.Kind

    /// Returns the rows that `body` draws on a canvas of the given size.
    private func rows(_ size: PixelSize, _ body: (OrientedCanvas) throws -> Void) rethrows -> PixelBuffer {
        let canvas = OrientedCanvas(stored: size, orientation: .up)
        try body(canvas)
        return canvas.pixels
    }

    @Test(arguments: Kind.all.filter(\.isProgressive))
    func jpegPreviewEqualsADecodeOfItsScans(kind: Kind) throws {
        for (width, height) in [(131, 77), (16, 1), (640, 481)] {
            let file = try kind.file(width, height)
            let header = try #require(try probe(file))
            // As if a further scan began, so that all of these are complete.
            let last = try #require(file.indices.dropLast().last { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
            let length = 2 + Int(file[last + 2]) << 8 + Int(file[last + 3])
            let unfinished = Array(file.dropLast(2)) + file[last..<last + length]
            let decoder = try JPEGRowDecoder(header: header, rowSize: header.size, limits: DecodeLimits())
            let image = try rows(header.size) { canvas in
                try decoder.append(unfinished.span, to: canvas)
                for eighths in 2...7 {
                    let side = (max(width, height) * eighths + 7) / 8
                    let size = try #require(decoder.previewRowSize(maximumSide: side))
                    let preview = try rows(size) { try decoder.renderPreview(size: size, to: $0) }
                    let other = try JPEGRowDecoder(header: header, rowSize: size, limits: DecodeLimits())
                    let expected = try rows(size) {
                        try other.append(file.span, to: $0)
                        try other.finish(to: $0)
                    }
                    #expect(preview == expected, "\(eighths)/8 of \(width)x\(height)")
                }
            }
            #expect(image.bytes.allSatisfy { $0 == 0 })
        }
    }

    /// The first scan of a gray image has the DC coefficients of its blocks; at 1/2 each block is a square of 4 by 4
    /// pixels.
    @Test func dcOnlyBlocksOfJPEGPreviewsAreSmoothed() throws {
        let file = try Kind(isGray: true, isProgressive: true).file(160, 120)
        let header = try #require(try probe(file))
        let scans = file.indices.dropLast().filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA }
        let secondScan = scans[1] + 2 + Int(file[scans[1] + 2]) << 8 + Int(file[scans[1] + 3])
        let decoder = try JPEGRowDecoder(header: header, rowSize: header.size, limits: DecodeLimits())
        _ = try rows(header.size) { try decoder.append(Array(file[..<secondScan]).span, to: $0) }
        #expect(decoder.previewScan == 1)
        let size = try #require(decoder.previewRowSize(maximumSide: 80))
        #expect(size == PixelSize(width: 80, height: 60))
        let preview = try rows(size) { try decoder.renderPreview(size: size, to: $0) }
        let squares = stride(from: 4, to: 76, by: 4).flatMap { x in stride(from: 4, to: 56, by: 4).map { (x, $0) } }
        let smoothed = squares.count { x, y in preview[x, y].red != preview[x + 3, y].red }
        #expect(smoothed > squares.count / 2)
    }

    @Test func jpegPreviewsDoNotChangeTheResult() throws {
        let file = try Kind(isProgressive: true).file(90, 70)
        let decoder = StreamingDecoder()
        var sizes: Set<PixelSize> = []
        for offset in file.indices {
            try append(file, offset..<offset + 1, to: decoder)
            try decoder.begin()
            if let preview = try decoder.preview(maximumSide: 10 + offset % 100) {
                sizes.insert(preview.pixels.size)
                #expect(preview.completeRows == preview.pixels.height)
                let bytes = preview.pixels.bytes
                #expect(stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 })
            }
        }
        #expect(sizes.count >= 5)
        #expect(decoder.hasReachedEnd)
        #expect(try decoder.finish() == decode(file))
    }
}
