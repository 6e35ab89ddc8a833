import ImageTestSupport
import Testing

@testable import ImageCodecs

/// GIF files whose pixels are all there and certain, though something else is wrong.
struct GIFWarningTests {
    private static let frame = TestGIF.Frame(width: 4, height: 3, indices: [UInt8](repeating: 1, count: 12), delay: 5)

    private static func file(_ count: Int) -> [UInt8] {
        TestGIF(width: 4, height: 3).file([TestGIF.Frame](repeating: frame, count: count))
    }

    @Test(arguments: [1, 2])
    func gifWithoutATrailerIsComplete(frames: Int) throws {
        let whole = Self.file(frames)
        #expect(try warnings(of: whole, like: whole) == [])
        #expect(try warnings(of: whole.dropLast(), like: whole) == [.missingEnd])
    }

    @Test func gifThatEndsAfterTheLastPixelOfItsOnlyImageIsComplete() throws {
        let whole = Self.file(1)
        // The trailer, the end of the data, and the end code.
        for missing in 1...3 { #expect(try warnings(of: whole.dropLast(missing), like: whole) == [.missingEnd]) }
        #expect(commonError(of: whole.dropLast(4)) == .truncated(.gif))
        #expect(commonError(of: Self.file(2).dropLast(3)) == .truncated(.gif))
    }

    @Test(arguments: [1, 2, 100, 70_000])
    func zerosAfterTheLastFrameAreAWarning(zeros: Int) throws {
        for frames in [1, 2] {
            let whole = Self.file(frames)
            let padding = [UInt8](repeating: 0, count: zeros)
            #expect(try warnings(of: whole.dropLast() + padding, like: whole) == [.extraBytes])
            guard zeros <= 100 else { continue }
            #expect(try warnings(of: whole.dropLast() + padding + [0x3B], like: whole) == [.extraBytes])
        }
    }

    /// Another frame could be lost.
    @Test func otherBytesAfterAFrameFailVerification() throws {
        let whole = Self.file(1)
        for bytes in [[0x77], [0, 0x2C], [0, 0, 1]] as [[UInt8]] {
            let file = whole.dropLast() + bytes + [0x3B]
            #expect(try decode(Array(file)).header.warnings == [.extraBytes])
            #expect(throws: CodecError.self) { try ImageVerifier.verify(Array(file).span) }
        }
    }

    /// The common placeholder of 26 bytes: one pixel, no palette, no data.
    @Test(arguments: [(1, 1), (3, 2)], [false, true])
    func gifWithoutPaletteNeedsNoData(size: (width: Int, height: Int), isInterlaced: Bool) throws {
        let (width, height) = (UInt8(size.width), UInt8(size.height))
        let flags: UInt8 = isInterlaced ? 0x40 : 0
        let file =
            Array("GIF89a".utf8) + [
                width, 0, height, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, width, 0, height, 0, flags, 2, 0, 0x3B,
            ]
        let image = try decode(file)
        #expect(image.pixels == PixelBuffer(transparent: PixelSize(width: size.width, height: size.height)))
        #expect(try warnings(of: file, like: file) == [.missingData])
        // With a palette, the pixels are missing.
        var colored = file
        colored[10] = 0x80
        colored.insert(contentsOf: [1, 2, 3, 4, 5, 6], at: 13)
        #expect(commonError(of: colored) == .corrupt(.gif, "the image has too few pixels"))
    }
}
