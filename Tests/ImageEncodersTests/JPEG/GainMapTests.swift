import ImageTestSupport
import Testing

@testable import ImageCodecs
@testable import ImageEncoders

struct GainMapTests {
    private let photo = TestImage.photo(64, 48)

    private func gainMap() throws -> [UInt8] {
        TestGainMap.described(try TestImage.gray(16, 12).encoded(as: .jpeg))
    }

    @Test func gainMapIsWrittenBehindTheImageAndFoundAgain() throws {
        let map = try gainMap()
        let metadata = ImageMetadata(
            colorProfile: TestProfile.bytes("RGB ", count: 300), exif: TestExif.bytes(orientation: 1), gainMap: map)
        let file = try photo.encoded(with: .jpeg(), metadata: metadata)
        #expect(try probe(file)?.hasGainMap == true)
        #expect(ImageMetadata(file: file.span) == metadata)
        let plain = try photo.encoded(as: .jpeg)
        #expect(try decode(file).pixels == decode(plain).pixels)
        #expect(try probe(plain)?.hasGainMap == false)
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

    @Test func onlyPictureIsTheAnnouncedGainMap() throws {
        let plain = try TestImage.gray(16, 12).encoded(as: .jpeg)
        let file = try photo.encoded(with: .jpeg(), metadata: ImageMetadata(gainMap: plain))
        #expect(ImageMetadata(file: file.span).gainMap == plain)
        let noise: [UInt8] = [1, 2, 3]
        #expect(!GainMap.isGainMap(plain.span, among: 2) && !GainMap.isGainMap(noise.span, among: 1))
    }

    @Test(arguments: [1, 7, 700, 1 << 20]) func gainMapIsFoundInPieces(length: Int) throws {
        let map = try gainMap()
        let file = try photo.encoded(with: .jpeg(), metadata: ImageMetadata(gainMap: map))
        var scanner = GainMapScanner()
        for start in stride(from: 0, to: file.count, by: length) {
            #expect(scanner.map == nil)
            scanner.append(file.span.extracting(start..<min(start + length, file.count)))
        }
        #expect(scanner.map == map)
    }

    @Test func truncatedFileHasNoGainMap() throws {
        let file = try photo.encoded(with: .jpeg(), metadata: ImageMetadata(gainMap: try gainMap()))
        let cut = Array(file.dropLast())
        #expect(ImageMetadata(file: cut.span).gainMap == nil)
    }

    /// The field with the places starts 36 bytes behind the identifier, and its entries 50 bytes behind the TIFF header.
    @Test func directoryWithAbsurdNumbersHasNoGainMap() throws {
        let file = try photo.encoded(with: .jpeg(), metadata: ImageMetadata(gainMap: try gainMap()))
        let identifier = Array("MPF\0".utf8)
        let start = try #require(file.indices.first { file[$0...].starts(with: identifier) }) + 4
        for position in start..<start + 82 {
            var damaged = file
            damaged[position] = 0xFF
            _ = ImageMetadata(file: damaged.span)
        }
        var huge = file
        for position in start + 70..<start + 74 { huge[position] = 0xFF }
        #expect(ImageMetadata(file: huge.span).gainMap == nil)
    }

    /// Each announcement would begin a search of the whole file.
    @Test(.timeLimit(.minutes(1))) func manyAnnouncementsOfAGainMapAreReadOnce() {
        let content = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)
        let segment: [UInt8] = [0xFF, 0xE2, 0, UInt8(content.count + 2)] + content
        let file = [0xFF, 0xD8] + [[UInt8]](repeating: segment, count: 100_000).joined()
        #expect(ImageMetadata(file: file.span).isEmpty)
    }
}
