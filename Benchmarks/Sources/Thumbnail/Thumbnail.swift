import Glibc
import ImageCodecs

/// A thumbnail of a file as a JPEG file: nothing but the codecs, so that time and memory are theirs.
@main
enum Thumbnail {
    private static let blockSize = 64 << 10

    static func main() {
        do {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            let pixels = try decode(arguments.input, maximumSide: arguments.maximumSide)
            let output = try OpenFile(creating: arguments.output)
            if arguments.writesPPM {
                try output.write(ppm(pixels))
            } else {
                try output.write(try pixels.encoded(as: .jpeg))
            }
        } catch {
            let message = "thumbnail: \(error)\n"
            _ = unsafe write(STDERR_FILENO, message, message.utf8.count)
            exit(1)
        }
    }

    /// As djpeg writes them, without alpha.
    private static func ppm(_ pixels: PixelBuffer) -> [UInt8] {
        var file = Array("P6\n\(pixels.width) \(pixels.height)\n255\n".utf8)
        file.reserveCapacity(file.count + pixels.size.area * 3)
        let bytes = pixels.bytes.span
        for pixel in 0..<pixels.size.area {
            file.append(bytes[pixel * 4])
            file.append(bytes[pixel * 4 + 1])
            file.append(bytes[pixel * 4 + 2])
        }
        return file
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
