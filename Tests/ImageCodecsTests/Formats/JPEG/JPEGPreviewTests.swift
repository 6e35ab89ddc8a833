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

    /// Returns the part of a file before its scan `number`, counted from 1, with the header of that scan, so that those
    /// before it are complete.
    private func file(_ file: [UInt8], upTo number: Int) -> [UInt8] {
        let scans = file.indices.dropLast().filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA }
        let length = 2 + Int(file[scans[number - 1] + 2]) << 8 + Int(file[scans[number - 1] + 3])
        return Array(file[..<(scans[number - 1] + length)])
    }

    /// The number of 4x4 squares, each a block at 1/2, whose pixels differ.
    private func smoothedBlocks(of image: PixelBuffer) -> Double {
        let squares = stride(from: 4, to: 76, by: 4).flatMap { x in stride(from: 4, to: 56, by: 4).map { (x, $0) } }
        return Double(squares.count { x, y in image[x, y].red != image[x + 3, y].red }) / Double(squares.count)
    }

    /// The first scan of a gray image has the DC coefficients of its blocks; at 1/2 each block is a square of 4 by 4
    /// pixels.
    @Test func dcOnlyBlocksOfJPEGPreviewsAreSmoothed() throws {
        let file = try Kind(isGray: true, isProgressive: true).file(160, 120)
        let header = try #require(try probe(file))
        let decoder = try JPEGRowDecoder(header: header, rowSize: header.size, limits: DecodeLimits())
        _ = try rows(header.size) { try decoder.append(self.file(file, upTo: 2).span, to: $0) }
        #expect(decoder.previewScan == 1)
        let size = try #require(decoder.previewRowSize(maximumSide: 80))
        #expect(size == PixelSize(width: 80, height: 60))
        let preview = try rows(size) { try decoder.renderPreview(size: size, to: $0) }
        #expect(smoothedBlocks(of: preview) > 0.5)
    }

    @Test func smallerPreviewOfDCOnlyBlocksIsInterpolated() throws {
        let file = try Kind(isGray: true, isProgressive: true).file(160, 120)
        let decoder = StreamingDecoder()
        try append(self.file(file, upTo: 2), to: decoder)
        try decoder.begin()
        let preview = try #require(try decoder.preview(maximumSide: 80))
        #expect(preview.scan == 1 && preview.pixels.size == PixelSize(width: 80, height: 60))
        #expect(smoothedBlocks(of: preview.pixels) > 0.9)
        // Linear interpolation between the means of the blocks, which are the image at 1/8.
        let means = try decode(file, options: DecodeOptions(target: .maximumSide(20))).pixels
        for y in 2..<58 {
            for x in 2..<78 {
                let (left, top) = ((x - 2) / 4, (y - 2) / 4)
                let (right, down) = (Double((x - 2) % 4) / 4 + 0.125, Double((y - 2) % 4) / 4 + 0.125)
                let rows = [top, top + 1].map { row in
                    Double(means[left, row].red) * (1 - right) + Double(means[left + 1, row].red) * right
                }
                let expected = rows[0] * (1 - down) + rows[1] * down
                #expect(abs(expected - Double(preview.pixels[x, y].red)) <= 2, "\(x), \(y)")
            }
        }
    }

    @Test func previewShowsAllDetailOnceThereAreACCoefficients() throws {
        let file = try Kind(isProgressive: true).file(160, 120)
        let header = try #require(try probe(file))
        let decoder = try JPEGRowDecoder(header: header, rowSize: header.size, limits: DecodeLimits())
        _ = try rows(header.size) { canvas in
            var offset = 0
            // The second scan has the first AC coefficients of the luma channel.
            for (scan, detail) in [(1, PixelSize(width: 20, height: 15)), (2, nil), (3, nil)] {
                let beginning = self.file(file, upTo: scan + 1)
                try decoder.append(Array(beginning[offset...]).span, to: canvas)
                offset = beginning.count
                #expect(decoder.previewScan == scan && decoder.previewDetailSize == detail)
            }
        }
    }

    @Test func jpegPreviewsDoNotChangeWhatIsRecovered() throws {
        let file = try Kind(isProgressive: true).file(160, 120)
        let header = try #require(try probe(file))
        let images = try [false, true].map { showsPreviews in
            let decoder = try JPEGRowDecoder(header: header, rowSize: header.size, limits: DecodeLimits())
            return try rows(header.size) { canvas in
                var offset = 0
                for scan in 2...4 {
                    let beginning = self.file(file, upTo: scan)
                    try decoder.append(Array(beginning[offset...]).span, to: canvas)
                    offset = beginning.count
                    guard showsPreviews else { continue }
                    for size in [header.size, PixelSize(width: 40, height: 30)] {
                        _ = try rows(size) { try decoder.renderPreview(size: size, to: $0) }
                    }
                }
                #expect(throws: CodecError.self) { try decoder.finish(to: canvas) }
                decoder.salvage(to: canvas)
            }
        }
        #expect(images[0] == images[1])
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
