#if SVG
import ImageCodecs

/// Asks `webimage-svg` for sizes and pixels; its main file describes the output.
struct SVGRenderer {
    let program: String?
    let timeLimit: Duration

    /// The first bytes of the output: the result, the size, and the proportions.
    private static let headLength = 17

    /// Returns the declared size, and its proportions before it was rounded.
    func size(of file: Span<UInt8>) throws(CodecError) -> (size: PixelSize, proportions: PixelSize) {
        let output = try run([], file, outputLength: Self.headLength)
        return (output.size, Self.size(in: output.bytes, at: 9))
    }

    private static func size(in output: [UInt8], at offset: Int) -> PixelSize {
        PixelSize(
            width: output.span.littleEndian32(at: offset) ?? 0, height: output.span.littleEndian32(at: offset + 4) ?? 0)
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
        case 0 where bytes.count == outputLength: return (bytes, Self.size(in: bytes, at: 1))
        case 1: throw .corrupt(.svg, "it is not valid")
        case 2: throw .corrupt(.svg, "it has no size")
        case 3: throw .unsupportedFeature(.svg, "it is too large")
        default: throw .unsupportedFeature(.svg, "it takes too much time or memory")
        }
    }
}
#endif
