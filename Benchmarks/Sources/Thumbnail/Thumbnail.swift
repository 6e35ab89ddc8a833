import Glibc
import ImageCodecs
import ImageEncoders

/// A command that scales an image file using only the codecs, so that its time and memory are theirs.
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

    /// Returns the scaled pixels of the file at `path`, reading one block at a time into memory.
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
