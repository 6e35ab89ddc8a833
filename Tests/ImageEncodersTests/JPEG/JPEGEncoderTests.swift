import ImageCodecs
import ImageEncoders
import ImageTestSupport
import Testing

struct JPEGEncoderTests {
    @Test func encodedJPEGDecodesToASimilarImage() throws {
        let image = TestImage.photo(123, 77)
        let file = try image.encoded(as: .jpeg, quality: 95)
        let decoded = try decode(file)
        #expect(decoded.header.format == .jpeg)
        #expect(decoded.pixels.size == image.size)
        let difference = zip(decoded.pixels.bytes, image.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(Double(difference) / Double(image.bytes.count) < 4)
    }

    @Test func higherJPEGQualityGivesLargerFiles() throws {
        let image = TestImage.photo(100, 100)
        let sizes = try [-5, 1, 30, 60, 89, 90, 100, 200].map { try image.encoded(as: .jpeg, quality: $0).count }
        #expect(sizes[0] == sizes[1])
        #expect(sizes[6] == sizes[7])
        #expect(sizes == sizes.sorted())
    }

    @Test func grayJPEGHasOneChannel() throws {
        let file = try TestImage.gray(30, 30).encoded(as: .jpeg)
        #expect(try probe(file)?.colorChannels == 1)
        #expect(try probe(TestImage.photo(30, 30).encoded(as: .jpeg))?.colorChannels == 3)
    }

    @Test func progressiveJPEGIsEncodedAsProgressive() throws {
        let file = try TestImage.photo(30, 30).encoded(as: .jpeg, quality: 80, isProgressive: true)
        #expect(try probe(file)?.isProgressive == true)
    }

    @Test func transparencyIsFlattenedOntoWhite() throws {
        let image = PixelBuffer(transparent: PixelSize(width: 16, height: 16))
        let decoded = try decode(image.encoded(as: .jpeg))
        #expect(decoded.pixels.bytes.allSatisfy { $0 == 255 })
    }

    @Test func emptyAndOversizedJPEGsAreRejected() {
        #expect(throws: CodecError.self) {
            try PixelBuffer(transparent: PixelSize(width: 0, height: 0)).encoded(as: .jpeg)
        }
        #expect(throws: CodecError.self) {
            try PixelBuffer(transparent: PixelSize(width: 65_501, height: 1)).encoded(as: .jpeg)
        }
    }
}
