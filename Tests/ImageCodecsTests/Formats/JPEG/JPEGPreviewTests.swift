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

    /// The first scan of a gray image has the DC coefficients of its blocks.
    @Test func dcOnlyBlocksOfPreviewsAtFullSizeAreSmoothed() throws {
        let file = try Kind(isGray: true, isProgressive: true).file(160, 120)
        let decoder = StreamingDecoder()
        try append(self.file(file, upTo: 2), to: decoder)
        try decoder.begin()
        let preview = try #require(try decoder.preview())
        #expect(preview.scan == 1 && preview.pixels.size == PixelSize(width: 160, height: 120))
        let blocks = stride(from: 8, to: 152, by: 8).flatMap { x in stride(from: 8, to: 112, by: 8).map { (x, $0) } }
        let smoothed = blocks.count { x, y in preview.pixels[x, y].red != preview.pixels[x + 7, y].red }
        #expect(smoothed > blocks.count / 2)
    }

    @Test(arguments: [(160, 120), (153, 113)])
    func smallerPreviewOfDCOnlyBlocksIsInterpolated(width: Int, height: Int) throws {
        let file = try Kind(isGray: true, isProgressive: true).file(width, height)
        let header = try #require(try probe(file))
        let decoder = StreamingDecoder()
        try append(self.file(file, upTo: 2), to: decoder)
        try decoder.begin()
        let preview = try #require(try decoder.preview(maximumSide: 80))
        let size = PixelSize(width: (width + 1) / 2, height: (height + 1) / 2)
        #expect(preview.scan == 1 && preview.pixels.size == size)
        // Linear interpolation between the means of the blocks, which are the rows at 1/8.
        let eighth = PixelSize(width: (width + 7) / 8, height: (height + 7) / 8)
        let coarse = try JPEGRowDecoder(header: header, rowSize: eighth, limits: DecodeLimits())
        let means = try rows(eighth) { canvas in
            try coarse.append(file.span, to: canvas)
            try coarse.finish(to: canvas)
        }
        for y in 2..<size.height - 6 {
            for x in 2..<size.width - 6 {
                let (left, top) = ((x - 2) / 4, (y - 2) / 4)
                let (right, down) = (Double((x - 2) % 4) / 4 + 0.125, Double((y - 2) % 4) / 4 + 0.125)
                let rows = [top, top + 1].map { row in
                    Double(means[left, row].red) * (1 - right) + Double(means[left + 1, row].red) * right
                }
                let expected = rows[0] * (1 - down) + rows[1] * down
                #expect(abs(expected - Double(preview.pixels[x, y].red)) <= 3, "\(x), \(y)")
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
            let half = PixelSize(width: 80, height: 60)
            for (scan, size) in [(1, PixelSize(width: 20, height: 15)), (2, nil), (3, nil)] {
                let beginning = self.file(file, upTo: scan + 1)
                try decoder.append(Array(beginning[offset...]).span, to: canvas)
                offset = beginning.count
                let detail = decoder.previewDetail(of: PixelRegion(whole: half), in: half)
                #expect(decoder.previewScan == scan && detail?.rowSize == size)
                // Neither the full size nor 1/8.
                #expect(decoder.previewDetail(of: PixelRegion(whole: header.size), in: header.size) == nil)
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
