import ImageTestSupport
import Testing

@testable import ImageCodecs
@testable import ImageEncoders

struct ImageMetadataTests {
    private func read(_ file: [UInt8]) -> ImageMetadata { ImageMetadata(file: file.span) }

    @Test(arguments: [false, true], [UInt8(3), 4])
    func exifOrientationIsResetInPlace(isBigEndian: Bool, type: UInt8) {
        var metadata = ImageMetadata(exif: TestExif.bytes(orientation: 6, isBigEndian: isBigEndian, type: type))
        metadata.resetOrientation()
        #expect(metadata.exif == TestExif.bytes(orientation: 1, isBigEndian: isBigEndian, type: type))
    }

    @Test func exifDataWithoutAnOrientationIsUnchanged() {
        for exif in [[], Array("II*\0".utf8), Array(TestExif.bytes(orientation: 6).prefix(30))] as [[UInt8]] {
            var metadata = ImageMetadata(exif: exif)
            metadata.resetOrientation()
            #expect(metadata.exif == exif)
        }
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp])
    func metadataOfACutFileIsCompleteOrAbsent(format: ImageFormat) throws {
        let metadata = ImageMetadata(colorProfile: TestProfile.bytes("RGB "), exif: TestExif.bytes(orientation: 6))
        let file = try TestImage.photo(4, 4).encoded(with: try EncodeOptions(format), metadata: metadata)
        for count in 0..<file.count {
            let part = ImageMetadata(file: file.span.extracting(first: count))
            #expect(part.colorProfile == nil || part.colorProfile == metadata.colorProfile)
            #expect(part.exif == nil || part.exif == metadata.exif)
        }
    }

    @Test func contradictoryJPEGProfilePartsAreIgnored() throws {
        func file(_ parts: [(number: UInt8, count: UInt8)]) -> [UInt8] {
            [0xFF, 0xD8]
                + parts.flatMap { part -> [UInt8] in
                    [0xFF, 0xE2, 0, 18] + Array("ICC_PROFILE\0".utf8) + [part.number, part.count] + [7, part.number]
                } + [0xFF, 0xD9]
        }
        #expect(read(file([(2, 2), (1, 2)])).colorProfile == [7, 1, 7, 2])
        for parts in [[(1, 2)], [(1, 2), (1, 2)], [(1, 2), (2, 3)], [(0, 1)], [(3, 2), (1, 2)]] as [[(UInt8, UInt8)]] {
            #expect(read(file(parts.map { (number: $0.0, count: $0.1) })).colorProfile == nil)
        }
    }

    @Test func profileThatDecompressesBeyondTheLimitIsIgnored() throws {
        let bomb = try ImageMetadata.compressed([UInt8](repeating: 0, count: ImageMetadata.maximumBytes + 1))
            .unwrapped()
        #expect(Zlib.inflate(bomb.span, limit: ImageMetadata.maximumBytes) == nil)
        #expect(Zlib.inflate(bomb.span, limit: ImageMetadata.maximumBytes + 1)?.count == ImageMetadata.maximumBytes + 1)
        var file = [UInt8].pngSignature
        file.append(pngChunk: "iCCP", [65, 0, 0], bomb.span)
        #expect(read(file).isEmpty)
    }
}
