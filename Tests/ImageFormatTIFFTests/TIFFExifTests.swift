#if TIFF
import CTIFF
import ImageCodecs
import ImageFormatTIFF
import ImageTestSupport
import Testing

/// The Exif data of a TIFF, whose directories are those of the file.
struct TIFFExifTests {
    private func exif(_ file: [UInt8]) -> [UInt8]? {
        ImageMetadata(file: file.span, customFormats: [TIFFFormat()]).exif
    }

    @Test(arguments: [false, true]) func fieldsAreCollected(isBigEndian: Bool) throws {
        let image = [TestExif.Field(0x010F, "Kamera\0"), TestExif.Field(0x0112, type: 3, [6])]
        let camera = [
            TestExif.Field(0x829A, type: 5, [1, 60]), TestExif.Field(0x9003, "2024:05:01 12:30:00\0"),
            TestExif.Field(0xA434, "Objektiv\0"),
        ]
        let location = [TestExif.Field(1, "N\0"), TestExif.Field(2, type: 5, [47, 1, 36, 1, 1_234, 25])]
        let file = TestExif.bytes(
            image: [TestExif.Field(0x0100, type: 3, [640])] + image, exif: camera, gps: location,
            isBigEndian: isBigEndian)
        let expected = TestExif.bytes(image: image, exif: camera, gps: location, isBigEndian: isBigEndian)
        let fields = try ExifReader(exif(file).unwrapped())?.fields()
        #expect(fields?.isEmpty == false && fields == ExifReader(expected)?.fields())
    }

    @Test(arguments: ["w", "wb", "w8"]) func fieldsOfAPageAreCollected(mode: String) throws {
        let file = try TestTIFF(mode: mode, tags: [(TIFFTAG_ORIENTATION, 6)]).file()
        var metadata = ImageMetadata(exif: exif(file))
        let data = try metadata.exif.unwrapped()
        #expect(ExifReader(data)?.fields().map(\.tag) == [274])
        metadata.resetOrientation()
        let reset = try metadata.exif.unwrapped()
        #expect(ExifReader(reset)?.fields().map(\.value) == [.integers([1])])
    }

    @Test func damagedDirectoriesAreReadAsFarAsPossible() {
        let file = TestExif.photo
        for length in file.indices { _ = exif(Array(file.prefix(length))) }
        for position in file.indices {
            for byte in [0, 1, 8, 0x7F, 0xFF] as [UInt8] {
                var damaged = file
                damaged[position] = byte
                #expect((exif(damaged)?.count ?? 0) < 1 << 21)
            }
        }
    }
}
#endif
