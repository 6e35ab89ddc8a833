import Glibc
import ImageCodecs
import ImageEncoders

/// A thumbnail of a file as a JPEG file: nothing but the codecs, so that time and memory are theirs.
@main
enum Thumbnail {
    private static let blockSize = 64 << 10

    static func main() {
        do {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            let pixels = try decode(arguments.input, maximumSide: arguments.maximumSide)
            let output = try OpenFile(creating: arguments.output)
            try output.write(arguments.writesPixels ? pixels.bytes : try pixels.encoded(as: .jpeg))
        } catch {
            let message = "thumbnail: \(error)\n"
            _ = unsafe write(STDERR_FILENO, message, message.utf8.count)
            exit(1)
        }
    }

    /// The pixels of the file at `path`, of which one block at a time is in memory.
    private static func decode(_ path: String, maximumSide: Int) throws -> PixelBuffer {
        let input = try OpenFile(reading: path)
        let decoder = StreamingDecoder(
            options: DecodeOptions(target: .maximumSide(maximumSide), stopsWhenComplete: true))
        var block = [UInt8](repeating: 0, count: blockSize)
        while !decoder.needsNoMoreBytes {
            let count = try input.read(into: &block)
            if count == 0 { break }
            try decoder.append(block.span.extracting(first: count))
            if decoder.plan != nil { try decoder.begin() }
        }
        return try decoder.finish().pixels
    }
}
