import ImageCodecs
import ImageTestSupport
import Synchronization
import Testing

/// The number of times a decoder receives the bytes of its file.
struct BytesParsedTests {
    private final class Count: Sendable {
        let bytes = Atomic(0)
        let decoders = Atomic(0)
    }

    /// A format of uncompressed rows behind a signature of twelve bytes, whose decoder counts its input.
    private struct CountingFormat: CustomFormat {
        static let size = PixelSize(width: 5, height: 40)
        static let file: [UInt8] =
            Array("COUNTED FILE".utf8) + [UInt8](repeating: 9, count: size.width * size.height * 4)

        let format = ImageFormat(name: "COUNTED", mediaType: "image/x-counted", fileExtension: "counted")
        let signatureLength = 12
        let count: Count

        func recognizes(_ beginning: Span<UInt8>) -> Bool { beginning[0] == Self.file[0] }
        func header(of beginning: Span<UInt8>) throws(CodecError) -> ImageHeader? {
            ImageHeader(format: format, size: Self.size)
        }
        func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { Self.size.width * 4 }
        func decoder(for header: ImageHeader, rowSize: PixelSize) -> any CustomRowDecoder {
            count.decoders.add(1, ordering: .relaxed)
            return Decoder(count: count)
        }

        struct Decoder: CustomRowDecoder {
            let count: Count
            var held: [UInt8] = []
            var skipped = 0

            mutating func append(_ bytes: Span<UInt8>, to rows: inout ImageRows) throws(CodecError) {
                count.bytes.add(bytes.count, ordering: .relaxed)
                for index in bytes.indices {
                    guard skipped == 12 else {
                        skipped += 1
                        continue
                    }
                    held.append(bytes[index])
                    guard held.count == CountingFormat.size.width * 4 else { continue }
                    try rows.append(held.span)
                    held = []
                }
            }

            func finish(to rows: inout ImageRows) throws(CodecError) {}
        }
    }

    @Test(arguments: [1, 7, 100, 10_000])
    func eachByteIsParsedOnceWhateverPreviewsAreMade(step: Int) throws {
        let count = Count()
        let decoder = StreamingDecoder(customFormats: [CountingFormat(count: count)])
        let file = CountingFormat.file
        var previews = 0
        for start in stride(from: 0, to: file.count, by: step) {
            try decoder.append(file.span.extracting(start..<min(start + step, file.count)))
            if decoder.plan != nil { try decoder.begin() }
            if try decoder.preview() != nil { previews += 1 }
        }
        #expect(try decoder.finish().pixels.bytes == [UInt8](repeating: 9, count: file.count - 12))
        #expect(previews > 0)
        #expect(count.bytes.load(ordering: .relaxed) == file.count)
        #expect(count.decoders.load(ordering: .relaxed) == 1)
    }
}
