import ImageTestSupport
import Testing

@testable import ImageCodecs
@testable import ImageEncoders

struct ExifScannerTests {
    static let formats: [ImageFormat] = [.jpeg, .png, .webp]

    private func file(_ format: ImageFormat, exif: [UInt8]? = TestExif.photo) throws -> [UInt8] {
        try TestImage.photo(40, 30).encoded(
            with: try EncodeOptions(format),
            metadata: ImageMetadata(colorProfile: TestProfile.bytes("RGB ", count: 301), exif: exif))
    }

    private func scan(_ file: [UInt8], piece: Int = .max) -> [UInt8]? {
        var scanner = ExifScanner()
        var offset = 0
        while offset < file.count {
            let count = min(piece, file.count - offset)
            scanner.append(file.span.extracting(offset..<offset + count))
            offset += count
        }
        return scanner.exif
    }

    /// A PNG file whose Exif data, if any, follow its pixels.
    private func png(then exif: [UInt8]) throws -> [UInt8] {
        let file = try TestImage.photo(40, 30).encoded(as: .png)
        var result = Array(file.dropLast(12))
        result.append(pngChunk: "eXIf", [], exif.span)
        return result + file.suffix(12)
    }

    /// Otherwise, zeros after the image would be read as millions of chunks.
    @Test func chunksAfterTheEndOfAPNGAreNotRead() throws {
        var file = try file(.png, exif: nil)
        let exif = TestExif.photo
        file.append(pngChunk: "eXIf", [], exif.span)
        #expect(scan(file) == nil)
    }

    @Test(arguments: formats, [1, 7, 4_096])
    func exifDataIsFoundInPiecesOfAnySize(format: ImageFormat, piece: Int) throws {
        #expect(scan(try file(format), piece: piece) == TestExif.photo)
        #expect(scan(try file(format, exif: nil), piece: piece) == nil)
    }

    @Test func exifDataBehindThePixelsAreFound() throws {
        let prefixed = Array("Exif\0\0".utf8) + TestExif.photo
        for file in [try png(then: TestExif.photo), try png(then: prefixed)] {
            #expect(scan(file, piece: 5) == TestExif.photo)
            #expect(ImageMetadata(file: file.span).exif == TestExif.photo)
        }
    }

    @Test func exifScannerSkipsOtherMetadataAndFillBytes() throws {
        let jpeg = try file(.jpeg)
        let other = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
        let segment: [UInt8] = [0xFF, 0xFF, 0xFF, 0xE1, 0, UInt8(other.count + 2)] + other
        let empty: [UInt8] = [0xFF, 0xE1, 0, 2]
        for piece in [1, 100] {
            #expect(scan(Array(jpeg[..<2]) + segment + empty + jpeg[2...], piece: piece) == TestExif.photo)
        }
    }

    @Test func onlyTheBeginningOfLongExifDataIsKept() throws {
        let long = TestExif.photo + [UInt8](repeating: 0, count: ExifScanner.maximumBytes)
        for file in [try png(then: long), try file(.webp, exif: long)] {
            #expect(scan(file, piece: 1_000) == Array(long.prefix(ExifScanner.maximumBytes)))
        }
    }

    @Test(arguments: formats)
    func exifScannerMatchesImageMetadataForDamagedFiles(format: ImageFormat) throws {
        let file = try file(format)
        for count in file.indices {
            let part = Array(file.prefix(count))
            #expect(scan(part) == ImageMetadata(file: part.span).exif)
        }
        for index in file.indices {
            var damaged = file
            damaged[index] ^= 0xFF
            #expect(scan(damaged, piece: 11) == ImageMetadata(file: damaged.span).exif, "\(index)")
        }
    }

    @Test func otherFileTypesHaveNoExifData() throws {
        #expect(scan(try TestImage.photo(40, 30).encoded(as: .gif)) == nil)
        #expect(scan(Array("<html><body>".utf8) + TestExif.photo) == nil)
    }
}
