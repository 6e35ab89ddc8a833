import CGIF

/// Reads the first image of a GIF with giflib and lays it on a transparent canvas.
@safe
struct GIFImageReader: ~Copyable {
    /// What giflib's reading callback gives out.
    @unsafe private struct Source {
        var bytes: UnsafeBufferPointer<UInt8>
        var offset = 0
    }

    private let file: UnsafeMutablePointer<GifFileType>
    /// giflib keeps the address.
    private let source: UnsafeMutablePointer<Source>
    private let canvas: PixelSize

    /// Hands out the `canvas.height` rows of the first image in `bytes`, a file from its first byte.
    static func read(_ bytes: Span<UInt8>, canvas: PixelSize, to rows: any RowSink) throws(CodecError) {
        try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
            let reader = try unsafe GIFImageReader(bytes, canvas: canvas)
            try reader.readFirstImage(to: rows)
        }
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>, canvas: PixelSize) throws(CodecError) {
        self.canvas = canvas
        unsafe source = .allocate(capacity: 1)
        unsafe source.initialize(to: Source(bytes: bytes))
        var status: Int32 = 0
        let file = unsafe DGifOpen(
            source,
            { file, buffer, count in
                guard let source = unsafe file?.pointee.UserData?.assumingMemoryBound(to: Source.self), count > 0
                else { return 0 }
                let (bytes, offset) = unsafe (source.pointee.bytes, source.pointee.offset)
                let length = min(Int(count), bytes.count - offset)
                guard length > 0, let start = bytes.baseAddress else { return 0 }
                unsafe buffer?.update(from: start + offset, count: length)
                unsafe source.pointee.offset += length
                return Int32(length)
            }, &status)
        guard let file = unsafe file else {
            unsafe source.deallocate()
            throw .corrupt(.gif, Self.message(status))
        }
        unsafe self.file = file
    }

    deinit {
        unsafe DGifCloseFile(file, nil)
        unsafe source.deallocate()
    }

    private borrowing func readFirstImage(to rows: any RowSink) throws(CodecError) {
        var transparentIndex: Int?
        while true {
            var kind = UNDEFINED_RECORD_TYPE
            try check(unsafe DGifGetRecordType(file, &kind))
            switch kind {
            case EXTENSION_RECORD_TYPE: try readExtension(transparentIndex: &transparentIndex)
            case IMAGE_DESC_RECORD_TYPE:
                try check(unsafe DGifGetImageDesc(file))
                return try readPixels(palette: palette(transparentIndex: transparentIndex), to: rows)
            default: throw .corrupt(.gif, "no image")
            }
        }
    }

    /// Passes over an extension, keeping the transparent index of a graphic control.
    private borrowing func readExtension(transparentIndex: inout Int?) throws(CodecError) {
        var code: Int32 = 0
        var block: UnsafeMutablePointer<GifByteType>?
        try check(unsafe DGifGetExtension(file, &code, &block))
        while let content = unsafe block {
            var control = GraphicsControlBlock()
            // The first byte is the length of the rest.
            if code == GRAPHICS_EXT_FUNC_CODE,
                unsafe DGifExtensionToGCB(Int(content[0]), content + 1, &control) == GIF_OK
            {
                transparentIndex = control.TransparentColor < 0 ? nil : Int(control.TransparentColor)
            }
            try check(unsafe DGifGetExtensionNext(file, &block))
        }
    }

    /// RGBA by index; what the file does not define is black.
    private borrowing func palette(transparentIndex: Int?) throws(CodecError) -> [UInt8] {
        guard let map = unsafe file.pointee.Image.ColorMap ?? file.pointee.SColorMap,
            let colors = unsafe map.pointee.Colors
        else { throw .corrupt(.gif, "no palette") }
        var palette = [UInt8](repeating: 0, count: 256 * 4)
        for index in 0..<256 where index != transparentIndex {
            palette[index * 4 + 3] = 255
            guard unsafe index < map.pointee.ColorCount else { continue }
            let color = unsafe colors[index]
            palette[index * 4] = color.Red
            palette[index * 4 + 1] = color.Green
            palette[index * 4 + 2] = color.Blue
        }
        return palette
    }

    private borrowing func readPixels(palette: [UInt8], to rows: any RowSink) throws(CodecError) {
        let image = unsafe file.pointee.Image
        let (left, top, width, height) = unsafe (Int(image.Left), Int(image.Top), Int(image.Width), Int(image.Height))
        // What sticks out of the canvas is decoded, but not kept.
        let visibleColumns = max(0, min(width, canvas.width - left))
        let visibleRows = max(0, min(height, canvas.height - top))
        var line = [UInt8](repeating: 0, count: width)
        var row = [UInt8](repeating: 0, count: canvas.width * 4)

        func paint(_ indices: ArraySlice<UInt8>) {
            var target = left * 4
            for index in indices {
                let color = Int(index) * 4
                for channel in 0..<4 { row[target + channel] = palette[color + channel] }
                target += 4
            }
            rows.append(row: row.span)
        }

        let emptyRow = [UInt8](repeating: 0, count: canvas.width * 4)
        for _ in 0..<min(top, canvas.height) { rows.append(row: emptyRow.span) }
        if unsafe image.Interlace {
            var indices = [UInt8](repeating: 0, count: visibleRows * visibleColumns)
            for (first, step) in [(0, 8), (4, 8), (2, 4), (1, 2)] {
                for y in stride(from: first, to: height, by: step) {
                    try readLine(into: &line)
                    guard y < visibleRows else { continue }
                    let start = y * visibleColumns
                    indices.replaceSubrange(start..<start + visibleColumns, with: line[..<visibleColumns])
                }
            }
            for y in 0..<visibleRows { paint(indices[(y * visibleColumns)..<((y + 1) * visibleColumns)]) }
        } else {
            for _ in 0..<visibleRows {
                try readLine(into: &line)
                paint(line[..<visibleColumns])
            }
        }
        for _ in 0..<max(0, canvas.height - top - visibleRows) { rows.append(row: emptyRow.span) }
    }

    private borrowing func readLine(into line: inout [UInt8]) throws(CodecError) {
        guard !line.isEmpty else { return }
        let count = Int32(clamping: line.count)
        let status = unsafe line.withUnsafeMutableBufferPointer { line in
            unsafe DGifGetLine(file, line.baseAddress, count)
        }
        try check(status)
    }

    private borrowing func check(_ status: Int32) throws(CodecError) {
        guard status == GIF_OK else { throw unsafe .corrupt(.gif, Self.message(file.pointee.Error)) }
    }

    private static func message(_ code: Int32) -> String {
        guard let text = unsafe GifErrorString(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
