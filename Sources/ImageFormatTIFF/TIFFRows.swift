#if TIFF
import ImageCodecs

extension TIFFDecoder {
    /// Passes all rows of the page to `rows`, with 16 bits if the samples have more than 8.
    func passRows(to rows: inout ImageRows) throws(CodecError) {
        if layout.isConverted {
            try passConverted(to: &rows)
        } else if layout.bits > 8 {
            try pass(UInt16.self, to: &rows)
        } else {
            try pass(UInt8.self, to: &rows)
        }
    }

    private func pass<Sample: TIFFSample>(_: Sample.Type, to rows: inout ImageRows) throws(CodecError) {
        var palette: [UInt8] = []
        if case .palette = layout.colors {
            palette = self.palette
            guard palette.count == 3 << layout.bits else { throw .corrupt(.tiff, "the color map is missing") }
        }
        let width = layout.size.width
        if let tile = layout.tile {
            let samples = TIFFSamples<Sample>(layout, palette: palette, width: min(tile.width, width))
            try passTiles(of: tile, samples, to: &rows)
        } else {
            try passStrips(TIFFSamples<Sample>(layout, palette: palette, width: width), to: &rows)
        }
    }

    /// Decodes strips row by row: each plane by a decoder of its own, which stays in its strip.
    private func passStrips<Sample: TIFFSample>(
        _ converter: TIFFSamples<Sample>, to rows: inout ImageRows
    ) throws(CodecError) {
        var samples = converter
        let width = layout.size.width
        var planes = [self]
        for _ in 1..<layout.planeCount { planes.append(try another()) }
        let neededBytes = (width * layout.samplesPerUnit * layout.bits + 7) / 8
        guard rowBytes >= neededBytes else { throw .corrupt(.tiff, "rows of \(rowBytes) bytes") }
        var buffer = [UInt8](repeating: 0, count: rowBytes)
        var pixels = [Sample](repeating: 0, count: width * 4)
        for y in 0..<layout.size.height {
            for (plane, decoder) in planes.enumerated() {
                try decoder.readRow(y, plane: plane, into: &buffer)
                samples.unpack(buffer.span, plane: plane, count: width)
            }
            samples.convert(width, into: &pixels, at: 0)
            try Sample.append(pixels.span, to: &rows)
        }
    }

    /// Decodes a row of tiles at a time.
    private func passTiles<Sample: TIFFSample>(
        of tile: PixelSize, _ converter: TIFFSamples<Sample>, to rows: inout ImageRows
    ) throws(CodecError) {
        var samples = converter
        let size = layout.size
        let rowBytes = tileRowBytes
        guard rowBytes >= (tile.width * layout.samplesPerUnit * layout.bits + 7) / 8 else {
            throw .corrupt(.tiff, "tiles with rows of \(rowBytes) bytes")
        }
        var buffers = [[UInt8]](
            repeating: [UInt8](repeating: 0, count: rowBytes * tile.height), count: layout.planeCount)
        var pixels = [Sample](repeating: 0, count: size.width * 4 * min(tile.height, size.height))
        for top in stride(from: 0, to: size.height, by: tile.height) {
            let height = min(tile.height, size.height - top)
            for left in stride(from: 0, to: size.width, by: tile.width) {
                let width = min(tile.width, size.width - left)
                for plane in buffers.indices {
                    try readTile(row: top, column: left, plane: plane, into: &buffers[plane])
                }
                for row in 0..<height {
                    for (plane, buffer) in buffers.enumerated() {
                        let stored = buffer.span.extracting(row * rowBytes..<(row + 1) * rowBytes)
                        samples.unpack(stored, plane: plane, count: width)
                    }
                    samples.convert(width, into: &pixels, at: row * size.width + left)
                }
            }
            for row in 0..<height {
                let range = row * size.width * 4..<(row + 1) * size.width * 4
                try Sample.append(pixels.span.extracting(range), to: &rows)
            }
        }
    }

    /// Lets libtiff convert a strip or a row of tiles at a time.
    private func passConverted(to rows: inout ImageRows) throws(CodecError) {
        let converter = try TIFFConverter(self)
        let size = layout.size
        let pieceHeight = min(layout.pieceHeight, size.height)
        var pixels = [UInt32](repeating: 0, count: size.width * pieceHeight)
        var output = [UInt8](repeating: 0, count: size.width * 4)
        for top in stride(from: 0, to: size.height, by: pieceHeight) {
            let height = min(pieceHeight, size.height - top)
            try converter.convert(height, fromRow: top, into: &pixels)
            for row in 0..<height {
                for x in 0..<size.width {
                    let pixel = pixels[row * size.width + x]
                    for channel in 0..<4 { output[x * 4 + channel] = UInt8(truncatingIfNeeded: pixel >> (channel * 8)) }
                }
                try rows.append(output.span)
            }
        }
    }
}
#endif
