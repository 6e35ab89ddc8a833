extension ImageHeader {
    /// Returns the header of a GIF, which is complete at its first image descriptor.
    static func gif(_ bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader? {
        guard let width = bytes.littleEndian16(at: 6), let height = bytes.littleEndian16(at: 8) else { return nil }
        var canvas = PixelSize(width: width, height: height)
        if canvas.area > 0 { try limits.check(canvas, .gif) }
        var blocks = GIFBlocks()
        var hasTransparentIndex = false
        while let block = blocks.next(in: bytes) {
            switch block {
            case .graphicControl(let control): hasTransparentIndex = control.transparentIndex != nil
            case .loop, .otherExtension: break
            case .image(let frame):
                // The part outside the canvas is not shown but must be decoded.
                if frame.size.area > 0 { try limits.check(frame.size, .gif) }
                if frame.size.width > canvas.width || frame.size.height > canvas.height {
                    // As in browsers. Later frames are cropped to the canvas.
                    canvas.width = max(canvas.width, frame.left + frame.size.width)
                    canvas.height = max(canvas.height, frame.top + frame.size.height)
                }
                try limits.check(canvas, .gif)
                var header = ImageHeader(format: .gif, size: canvas)
                header.colorChannels = 1
                header.frameCount = nil
                let hasPalette = frame.hasPalette || GIFBlocks.screenLength(of: bytes) > 13
                header.hasAlpha = hasTransparentIndex || !frame.covers(canvas) || !hasPalette
                header.isProgressive = frame.isInterlaced
                return header
            case .trailer: throw .corrupt(.gif, "no image")
            case .unknown(let byte): throw .corrupt(.gif, "a block of unknown kind \(byte)")
            }
        }
        return nil
    }
}
