import ImageCodecs

/// The commands that shrink an image.
enum DecodeEngine: String, Hashable, Sendable, CaseIterable {
    /// This library's decoder alone; its pixels are discarded.
    case decoder
    /// This library's decoder and encoder, from file to file.
    case thumbnail
    /// The codec's own command; its pixels are discarded.
    case djpeg, dwebp
    case vipsthumbnail

    /// Returns the command that scales the file `input`, an image of `size`, to at most `maximumSide` pixels per side.
    func command(_ input: String, size: PixelSize, maximumSide: Int, scratch: String) throws -> Command {
        let output = "\(scratch)/\(rawValue).jpg"
        let target = size.fitting(maximumSide: maximumSide)
        switch self {
        case .decoder:
            return Command(try .thumbnail(), [input, "/dev/null", "--max-pixel-size", "\(maximumSide)", "--raw"])
        case .thumbnail:
            return Command(try .thumbnail(), [input, output, "--max-pixel-size", "\(maximumSide)"])
        case .djpeg:
            let eighths = size.eighths(for: target)
            return Command(try Tool(rawValue), ["-scale", "\(eighths)/8", "-outfile", "/dev/null", input])
        case .dwebp:
            let scale = ["-scale", "\(target.width)", "\(target.height)"]
            return Command(try Tool(rawValue), ["-quiet", "-ppm"] + scale + [input, "-o", "/dev/null"])
        case .vipsthumbnail:
            return Command(try Tool(rawValue), [input, "--size", "\(maximumSide)", "-o", output])
        }
    }
}

extension PixelSize {
    /// Returns the largest size with this aspect ratio and sides of at most `side`, or this size if it is no larger.
    func fitting(maximumSide side: Int) -> PixelSize {
        let longest = max(width, height)
        guard longest > side else { return self }
        func scaled(_ length: Int) -> Int { max(1, (length * side + longest / 2) / longest) }
        return PixelSize(width: scaled(width), height: scaled(height))
    }

    /// Returns the number of eighths at which the library lets libjpeg decode an image of this size for `target`.
    ///
    /// Of the scales with vectorized code, it is the smallest that is at least 1.5 times `target`, or full size.
    func eighths(for target: PixelSize) -> Int {
        [1, 2, 4].first { eighths in
            ((width * eighths + 7) / 8 * 4 + 3) / 6 >= target.width
                && ((height * eighths + 7) / 8 * 4 + 3) / 6 >= target.height
        } ?? 8
    }
}
