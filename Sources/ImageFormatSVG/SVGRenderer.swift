#if SVG
import ImageCodecs

/// Asks `webimage-svg` for sizes and pixels; its main file describes the output.
struct SVGRenderer {
    let program: String?
    let timeLimit: Duration

    /// The first bytes of the output: the result, and the size.
    private static let headLength = 9

    func size(of file: Span<UInt8>) throws(CodecError) -> PixelSize {
        try run([], file, outputLength: Self.headLength).size
    }

    func render(_ file: Span<UInt8>, size: PixelSize, to rows: inout ImageRows) throws(CodecError) {
        let rowLength = size.width * 4
        let output = try run(
            ["\(size.width)", "\(size.height)"], file, outputLength: Self.headLength + rowLength * size.height)
        guard output.size == size else { throw .corrupt(.svg, "its size changes") }
        for y in 0..<size.height {
            let start = Self.headLength + y * rowLength
            try rows.append(output.bytes.span.extracting(start..<start + rowLength))
        }
    }

    private func run(
        _ arguments: [String], _ file: Span<UInt8>, outputLength: Int
    ) throws(CodecError) -> (bytes: [UInt8], size: PixelSize) {
        let process = try SVGProcess(try SVGProgram.path(program), arguments)
        let bytes = try process.output(for: file, length: outputLength, timeLimit: timeLimit)
        switch bytes.first {
        case 0 where bytes.count == outputLength:
            return (
                bytes,
                PixelSize(
                    width: bytes.span.littleEndian32(at: 1) ?? 0, height: bytes.span.littleEndian32(at: 5) ?? 0)
            )
        case 1: throw .corrupt(.svg, "it is not valid")
        case 2: throw .corrupt(.svg, "it has no size")
        case 3: throw .unsupportedFeature(.svg, "it is too large")
        default: throw .unsupportedFeature(.svg, "it takes too much time or memory")
        }
    }
}
#endif
