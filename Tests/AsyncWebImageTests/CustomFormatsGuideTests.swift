import AsyncWebImage
import Testing

/// The sample of the article about custom formats, here so that it is compiled.
struct CustomFormatsGuideTests {
    private func loadsACustomFormat() async throws {
        struct FarbfeldDecoder: CustomRowDecoder {
            let format: ImageFormat
            let size: PixelSize
            var headerBytesLeft = 16
            var rowsDone = 0
            var highByte: UInt8?
            var row: [UInt16] = []

            init(_ format: ImageFormat, _ size: PixelSize) {
                self.format = format
                self.size = size
            }

            mutating func append(_ bytes: Span<UInt8>, to rows: inout ImageRows) throws(CodecError) {
                for index in bytes.indices where rowsDone < size.height {
                    guard headerBytesLeft == 0 else {
                        headerBytesLeft -= 1
                        continue
                    }
                    guard let high = highByte else {
                        highByte = bytes[index]
                        continue
                    }
                    highByte = nil
                    row.append(UInt16(high) << 8 | UInt16(bytes[index]))
                    guard row.count == size.width * 4 else { continue }
                    try rows.append(row.span)
                    row.removeAll(keepingCapacity: true)
                    rowsDone += 1
                }
            }

            mutating func finish(to rows: inout ImageRows) throws(CodecError) {
                guard rowsDone == size.height else { throw .truncated(format) }
            }
        }

        struct Farbfeld: CustomFormat {
            let format = ImageFormat(name: "farbfeld", mediaType: "image/x-farbfeld", fileExtension: "ff")

            func recognizes(_ beginning: Span<UInt8>) -> Bool {
                let signature = Array("farbfeld".utf8)
                return beginning.count >= 8 && (0..<8).allSatisfy { beginning[$0] == signature[$0] }
            }

            func header(of beginning: Span<UInt8>) throws(CodecError) -> ImageHeader? {
                guard beginning.count >= 16 else { return nil }
                func number(at offset: Int) -> Int { (0..<4).reduce(0) { $0 << 8 | Int(beginning[offset + $1]) } }
                var header = ImageHeader(format: format, size: PixelSize(width: number(at: 8), height: number(at: 12)))
                header.hasAlpha = true
                header.bitsPerChannel = 16
                return header
            }

            func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { rowSize.width * 8 }

            func decoder(for header: ImageHeader, rowSize: PixelSize) -> any CustomRowDecoder {
                FarbfeldDecoder(format, rowSize)
            }
        }

        var configuration = ImageLoader.Configuration()
        configuration.decoding.customFormats = [Farbfeld()]
        let loader = ImageLoader(configuration: configuration)
        let picture = try await loader.image(for: ImageRequest("https://example.com/picture.ff", maximumSide: 256))
        print(picture.pixels.size)
    }

    @Test func theArticleContainsTheSampleThatIsCompiled() throws {
        let samples = try Document("Sources/AsyncWebImage/AsyncWebImage.docc/AddAFormat.md").code("swift")
        #expect(samples.count == 1)
        for sample in samples { #expect(try Document(#filePath).contains(Array(sample.dropFirst()))) }
    }
}
