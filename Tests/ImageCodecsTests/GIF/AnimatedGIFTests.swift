import Testing

@testable import ImageCodecs

@Suite
struct AnimatedGIFTests {
    @Test
    func fewColoursComeBackExactly() throws {
        for hasAlpha in [false, true] {
            let image = try TestImages.drawing(width: 31, height: 17, hasAlpha: hasAlpha)
            #expect(try decodeRows(image.encoded(as: .gif)).bytes == image.bytes)
        }
    }

    @Test
    func manyColoursComeBackNearly() throws {
        let image = try TestImages.photo(width: 64, height: 48)
        let decoded = try decodeRows(image.encoded(as: .gif)).bytes
        let differences = zip(image.bytes, decoded).map { abs(Int($0) - Int($1)) }
        #expect(differences.reduce(0, +) / differences.count < 12)
    }

    @Test
    func framesAreWrittenInOrder() throws {
        let frames = [
            try TestImages.drawing(width: 5, height: 4), try TestImages.drawing(width: 5, height: 4, hasAlpha: true),
        ]
        let file = try AnimatedGIF.encode(frames: frames, delay: .milliseconds(250))
        let decoded = try decodeRows(file)
        #expect(decoded.frameCount == 2)
        #expect(decoded.bytes == frames[0].bytes)
        let controls = file.indices.filter { file[$0...].starts(with: [0x21, 0xF9, 4]) }
        #expect(controls.map { file[$0 + 4] } == [25, 25])
        #expect(file.indices.contains { file[$0...].starts(with: Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]) })
    }

    @Test
    func framesOfDifferentSizesAreRefused() throws {
        let frames = [try TestImages.drawing(width: 5, height: 4), try TestImages.drawing(width: 4, height: 4)]
        #expect(throws: CodecError.self) { try AnimatedGIF.encode(frames: frames, delay: .seconds(1)) }
        #expect(throws: CodecError.self) { try AnimatedGIF.encode(frames: [], delay: .seconds(1)) }
    }
}
