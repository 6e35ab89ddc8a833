import ImageCodecs

/// Throws `CancellationError` if the task is canceled; checked once for a band of rows.
func checkCancellation(atRow row: Int) throws(CancellationError) {
    if row % 64 == 0, Task.isCancelled { throw CancellationError() }
}

extension PixelBuffer {
    /// Changes the pixels of `columns` of each of `rows`, which are inside the image.
    ///
    /// `change` gets the pixels of the columns, and the number of the row. Throws `CancellationError` if the task is
    /// canceled.
    mutating func change(
        columns: Range<Int>, rows: Range<Int>, _ change: (inout [FloatPixel], Int) -> Void
    ) throws(CancellationError) {
        guard !columns.isEmpty else { return }
        let format = format
        var pixels = [FloatPixel](repeating: .zero, count: columns.count)
        for row in rows {
            try checkCancellation(atRow: row)
            let start = (row * width + columns.lowerBound) * format.bytesPerPixel
            let range = start..<start + columns.count * format.bytesPerPixel
            format.read(bytes.span.extracting(range), into: &pixels)
            change(&pixels, row)
            var bytes = bytes.mutableSpan
            format.write(pixels, into: &bytes, at: start)
        }
    }

    /// Changes each pixel.
    mutating func changeEach(_ change: (FloatPixel) -> FloatPixel) throws(CancellationError) {
        try self.change(columns: 0..<width, rows: 0..<height) { pixels, _ in
            for x in pixels.indices { pixels[x] = change(pixels[x]) }
        }
    }

    /// Returns the part of the image in `columns` and `rows`, which are inside and not empty.
    func part(columns: Range<Int>, rows: Range<Int>) throws(CancellationError) -> PixelBuffer {
        let pixelBytes = format.bytesPerPixel
        let size = PixelSize(width: columns.count, height: rows.count)
        var part = PixelBuffer(withoutRows: size, format: format)
        part.bytes.reserveCapacity(size.area * pixelBytes)
        for row in rows {
            try checkCancellation(atRow: row)
            let start = (row * width + columns.lowerBound) * pixelBytes
            part.bytes.append(bytes.span.extracting(start..<start + columns.count * pixelBytes))
        }
        return part
    }
}
