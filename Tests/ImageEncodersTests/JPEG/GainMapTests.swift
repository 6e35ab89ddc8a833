import ImageTestSupport
import Testing

@testable import ImageCodecs
@testable import ImageEncoders

struct GainMapTests {
    private let photo = TestImage.photo(64, 48)

    private func gainMap() throws -> [UInt8] {
        TestGainMap.described(try TestImage.gray(16, 12).encoded(as: .jpeg))
    }

    private func scanned(_ file: [UInt8], pieceSize: Int) -> [UInt8]? {
        var scanner = GainMapScanner()
        for start in stride(from: 0, to: file.count, by: pieceSize) {
            scanner.append(file[start..<min(start + pieceSize, file.count)].span)
        }
        return scanner.gainMap
    }

    @Test func gainMapIsWrittenBehindTheImageAndFoundAgain() throws {
        let map = try gainMap()
        let metadata = ImageMetadata(
            colorProfile: TestProfile.bytes("RGB ", count: 300), exif: TestExif.bytes(orientation: 1), gainMap: map)
        let file = try photo.encoded(with: .jpeg(), metadata: metadata)
        #expect(try probe(file)?.hasGainMap == true)
        #expect(ImageMetadata(file: file.span) == metadata)
        for pieceSize in [1, 7, 1_000, file.count] { #expect(scanned(file, pieceSize: pieceSize) == map) }
        let plain = try photo.encoded(as: .jpeg)
        #expect(try decode(file).pixels == decode(plain).pixels)
        #expect(try probe(plain)?.hasGainMap == false && scanned(plain, pieceSize: 100) == nil)
    }

    @Test func placeOfTheGainMapCountsFromTheDirectory() throws {
        let map = try gainMap()
        let file = try photo.encoded(with: .jpeg(), metadata: ImageMetadata(gainMap: map))
        #expect(JPEGPictureDirectory.places(in: file.span) == [file.count - map.count..<file.count])
    }

    @Test func metadataOfISO21496AnnounceAGainMap() throws {
        var file = try photo.encoded(as: .jpeg)
        let content = Array("urn:iso:std:iso:ts:21496:-1\0".utf8) + [0, 0, 0, 0]
        file.insert(contentsOf: [0xFF, 0xE2, 0, UInt8(content.count + 2)] + content, at: 2)
        #expect(try probe(file)?.hasGainMap == true)
        #expect(ImageMetadata(file: file.span).gainMap == nil)
    }

    @Test func picturesThatAreNoGainMapsAreNotTaken() throws {
        let thumbnail = try TestImage.gray(16, 12).encoded(as: .jpeg)
        let file = try photo.encoded(with: .jpeg(), metadata: ImageMetadata(gainMap: thumbnail))
        #expect(scanned(file, pieceSize: 100) == nil && ImageMetadata(file: file.span).gainMap == nil)
    }

    @Test func truncatedFileHasNoGainMap() throws {
        let file = try photo.encoded(with: .jpeg(), metadata: ImageMetadata(gainMap: try gainMap()))
        let cut = Array(file.dropLast())
        #expect(scanned(cut, pieceSize: 100) == nil && ImageMetadata(file: cut.span).gainMap == nil)
    }

    /// The field with the places starts 36 bytes behind the identifier, and its entries 50 bytes behind the TIFF header.
    @Test func directoryWithAbsurdNumbersHasNoGainMap() throws {
        let file = try photo.encoded(with: .jpeg(), metadata: ImageMetadata(gainMap: try gainMap()))
        let identifier = Array("MPF\0".utf8)
        let start = try #require(file.indices.first { file[$0...].starts(with: identifier) }) + 4
        for position in start..<start + 82 {
            var damaged = file
            damaged[position] = 0xFF
            _ = scanned(damaged, pieceSize: 1_000)
            _ = ImageMetadata(file: damaged.span)
        }
        var huge = file
        for position in start + 70..<start + 74 { huge[position] = 0xFF }
        #expect(scanned(huge, pieceSize: 1_000) == nil && ImageMetadata(file: huge.span).gainMap == nil)
    }

    @Test func metadataThatNeverEndIsNotHeld() {
        var scanner = GainMapScanner()
        let segment = [0xFF, 0xE5, 0xFF, 0xFF] + [UInt8](repeating: 1, count: 65_533)
        scanner.append(([0xFF, 0xD8] + segment).span)
        for _ in 0..<100 { scanner.append(segment.span) }
        #expect(scanner.gainMap == nil && scanner.heldCount == 0)
    }
}
