extension AnimationIndex {
    init(webp file: Span<UInt8>, header: ImageHeader, limits: DecodeLimits) throws(CodecError) {
        guard let riffSize = file.littleEndian32(at: 4), file.has(riffSize, at: 8) else { throw .truncated(.webp) }
        let end = riffSize + 8
        var header = header
        var loopCount = 0
        var frames: [StoredFrame] = []
        var offset = 12
        while offset + 8 <= end, let length = file.littleEndian32(at: offset + 4) {
            guard length <= end - offset - 8 else { throw .truncated(.webp) }
            let data = offset + 8..<offset + 8 + length
            if file.has("ANIM", at: offset), length >= 6 {
                loopCount = file.littleEndian16(at: data.lowerBound + 4) ?? 0
            } else if file.has("ANMF", at: offset) {
                guard let frame = StoredFrame(webp: file, data), frame.isInside(header.size) else {
                    throw .corrupt(.webp, "a frame that leaves the canvas")
                }
                try frames.add(frame, .webp, limits)
            } else if file.has("EXIF", at: offset), header.orientationFollowsPixels {
                header.orientation = ImageOrientation(exif: file.extracting(data))
                header.orientationFollowsPixels = false
            }
            offset = data.upperBound + length & 1
        }
        guard !frames.isEmpty else { throw .corrupt(.webp, "an animation without frames") }
        self.init(header: header, loopCount: loopCount, frames: frames)
    }

    /// The chunks of the frame in a file of their own.
    func webpStill(_ frame: StoredFrame, of file: Span<UInt8>) -> [UInt8] {
        var still = Array("RIFF".utf8)
        for shift in [0, 8, 16, 24] { still.append(UInt8(truncatingIfNeeded: (frame.data.count + 4) >> shift)) }
        still += Array("WEBP".utf8)
        still.append(file.extracting(frame.data))
        return still
    }
}

extension StoredFrame {
    fileprivate init?(webp file: Span<UInt8>, _ chunk: Range<Int>) {
        let start = chunk.lowerBound
        guard chunk.count >= 16, let left = file.littleEndian24(at: start),
            let top = file.littleEndian24(at: start + 3),
            let width = file.littleEndian24(at: start + 6), let height = file.littleEndian24(at: start + 9),
            let milliseconds = file.littleEndian24(at: start + 12), let flags = file.byte(at: start + 15)
        else { return nil }
        self.left = left * 2
        self.top = top * 2
        size = PixelSize(width: width + 1, height: height + 1)
        delay = .milliseconds(milliseconds)
        disposal = flags & 1 == 1 ? .background : .keep
        blend = flags & 2 == 2 ? .source : .over
        data = start + 16..<chunk.upperBound
    }

    fileprivate func isInside(_ canvas: PixelSize) -> Bool {
        left + size.width <= canvas.width && top + size.height <= canvas.height
    }
}
