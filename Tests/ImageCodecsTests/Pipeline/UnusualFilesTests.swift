import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Files that a specification leaves open or forbids, but other decoders show: the treatment of each kind is in
/// Docs/Conformance.md.
@Suite(.timeLimit(.minutes(2)))
struct UnusualFilesTests {
    // MARK: JPEG

    private static func progressive() throws -> [UInt8] {
        try TestImage.photo(96, 80).encoded(as: .jpeg, quality: 60, isProgressive: true)
    }

    /// The end of each scan of a JPEG.
    private static func scanEnds(_ file: [UInt8]) -> [Int] {
        var ends: [Int] = []
        var offset = 2
        while offset + 4 <= file.count, file[offset] == 0xFF, file[offset + 1] != 0xD9 {
            let isScan = file[offset + 1] == 0xDA
            offset += 2 + Int(file[offset + 2]) << 8 + Int(file[offset + 3])
            guard isScan else { continue }
            while offset + 1 < file.count, file[offset] != 0xFF || file[offset + 1] == 0 { offset += 1 }
            ends.append(offset)
        }
        return ends
    }

    @Test(.enabled(if: ReferenceDecoder.has("djpeg"), "djpeg is not installed"))
    func aProgressiveJPEGWithFewerScansIsSmoothedAsByDjpeg() throws {
        let file = try Self.progressive()
        let ends = Self.scanEnds(file)
        #expect(ends.count > 5)
        for end in ends {
            let cut = Array(file[..<end]) + [0xFF, 0xD9]
            for step in [1 << 20, 100] {
                let image = try decode(cut) { step }
                #expect(!image.isPartial)
                let isEqual = try image.pixels.rgb == ReferenceDecoder.decodeJPEG(cut).rgb
                #expect(isEqual, "\(end) of \(file.count) bytes in pieces of \(step)")
            }
        }
    }

    @Test(arguments: [0, 1], [UInt8(0xFE), 0xE0, 0xE5, 0xEF])
    func jpegSegmentOfImpossibleLengthIsSkipped(length: UInt8, marker: UInt8) throws {
        let file = try TestImage.photo(20, 10).encoded(as: .jpeg)
        let odd = Array(file[..<2]) + [0xFF, marker, 0, length] + file[2...]
        #expect(try decode(odd).pixels == decode(file).pixels)
        let progressive = try Self.progressive()
        let small = DecodeOptions(target: .maximumSide(10))
        let oddProgressive = Array(progressive[..<2]) + [0xFF, marker, 0, length] + progressive[2...]
        #expect(try decode(oddProgressive, options: small).pixels == decode(progressive, options: small).pixels)
    }

    @Test func overlongCommentSwallowsFollowingSegment() throws {
        let file = try TestImage.photo(20, 10).encoded(as: .jpeg)
        let comment: [UInt8] = [0xFF, 0xFE, 0, 6, 1, 2, 3, 4]
        // A comment of four bytes that declares eight, in front of a segment that nothing depends on.
        let profile: [UInt8] = [0xFF, 0xE5, 0, 20] + [UInt8](repeating: 7, count: 18)
        var long = comment
        long[3] = 10
        #expect(try decode(Array(file[..<2]) + long + profile + file[2...]).pixels == decode(file).pixels)
        // The comment includes the tables and the frame header: libjpeg finds a scan without them.
        let start = try #require(file.indices.first { file[$0...].starts(with: [0xFF, 0xDB]) })
        let scan = try #require(file.indices.first { file[$0...].starts(with: [0xFF, 0xDA]) })
        long = [0xFF, 0xFE, UInt8((scan - start + 2) >> 8), UInt8((scan - start + 2) & 255)]
        #expect(throws: CodecError.corrupt(.jpeg, "a scan without a frame")) {
            try decode(Array(file[..<start]) + long + file[start...])
        }
    }

    @Test(arguments: [(UInt8(0xC3), UInt8(8)), (0xC1, 12), (0xCB, 8)])
    func losslessAnd12BitJPEGsAreRejectedByTheirHeader(marker: UInt8, depth: UInt8) throws {
        var file = try TestImage.photo(20, 10).encoded(as: .jpeg)
        let frame = try #require(file.indices.first { file[$0...].starts(with: [0xFF, 0xC0]) })
        (file[frame + 1], file[frame + 4]) = (marker, depth)
        let detail = depth == 12 ? "12 bits per channel" : "lossless JPEG"
        #expect(throws: CodecError.unsupportedFeature(.jpeg, detail)) { try probe(file) }
    }

    @Test func brokenCMYKProfileIsIgnored() throws {
        let blocks: [[UInt8]] = [[200, 100, 50, 250], [10, 20, 30, 100]]
        let file = TestCMYKJPEG.file(blocks, width: 2)
        let profile =
            [UInt8]("no profile at all, though as long as the smallest one is: ".utf8)
            + [UInt8](repeating: 1, count: 200)
        let image = try decode(TestTagged.jpeg(file, profile: profile))
        #expect(image.pixels == (try decode(file).pixels))
        #expect(image.header.colorConversion == .unsupported)
    }

    // MARK: PNG

    @Test func pngChunksBeforeTheHeaderAreRejected() throws {
        let file = try TestImages.photo(width: 8, height: 8).encoded(as: .png)
        let odd = Array(file[..<8]) + TestPNG.chunk("tEXt", Array("Title\0x".utf8)) + file[8...]
        #expect(throws: CodecError.corrupt(.png, "IHDR is not the first chunk")) { try decode(odd) }
    }

    // MARK: WebP

    @Test(arguments: [8, 3])
    func losslessWebPWithoutAlphaFlagIsOpaque(side: Int) throws {
        var pixels = TestImage.noise(8, 8, seed: 2, isOpaque: true)
        for offset in stride(from: 3, to: 256, by: 4) { pixels.bytes[offset] = UInt8(offset / 2 + 100 & 255 | 1) }
        var file = try pixels.encoded(with: .webp(WebPOptions(isLossless: true)))
        let start = try #require(file.indices.first { file[$0...].starts(with: Array("VP8L".utf8)) })
        #expect(file[start + 12] & 0x10 != 0)
        file[start + 12] &= ~0x10
        // Without the container, which has the flag as well.
        let image = Array(file[start...])
        let bare = Array("RIFF".utf8) + TestPNG.number(image.count + 4).reversed() + Array("WEBP".utf8) + image
        let options = DecodeOptions(target: .maximumSide(side))
        let opaque = try decode(bare, options: options)
        #expect(!opaque.header.hasAlpha && opaque.pixels.isOpaque)
        guard side == 8 else { return }
        for offset in stride(from: 3, to: 256, by: 4) { pixels.bytes[offset] = 255 }
        #expect(opaque.pixels == pixels)
        #expect(try decode(bare) { 1 }.pixels == pixels)
    }

    // MARK: All

    @Test func metadataAboveTheLimitIsRejected() throws {
        let file = try TestImages.photo(width: 8, height: 8).encoded(as: .jpeg)
        let segment: [UInt8] = [0xFF, 0xE5, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 0xFFFD)
        let many = Array(file[..<2]) + [[UInt8]](repeating: segment, count: 260).flatMap(\.self) + file[2...]
        #expect(throws: CodecError.overLimit(.headerBytes, value: many.count, limit: 16 << 20)) { try decode(many) }
    }
}
