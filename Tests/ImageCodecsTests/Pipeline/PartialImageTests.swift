import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// The decodable parts of truncated and damaged files.
@Suite(.timeLimit(.minutes(5)))
struct PartialImageTests {
    private static let partial = DecodeOptions(allowsPartial: true)

    private func file(_ format: ImageFormat) throws -> [UInt8] {
        try TestImage.photo(96, 80).encoded(as: format, quality: 80)
    }

    /// Appends as much of the file as possible, and returns the error.
    private func failure(_ file: [UInt8], of decoder: StreamingDecoder) -> CodecError? {
        #expect(throws: CodecError.self) {
            try append(file, to: decoder)
            _ = try decoder.finish()
        }
    }

    @Test(arguments: EncodeOptions.formats)
    func truncatedFileLeavesItsRowsAsPartialImage(format: ImageFormat) throws {
        let file = try file(format)
        let whole = try decode(file)
        let decoder = StreamingDecoder()
        #expect(failure(Array(file.prefix(file.count * 2 / 3)), of: decoder) == .truncated(format))
        let image = try #require(decoder.partialImage)
        #expect(image.isPartial)
        #expect(image.header.size == whole.header.size)
        #expect(image.completeRows > 20 && image.completeRows < 80)
        let complete = image.completeRows * 96 * 4
        #expect(image.pixels.bytes[..<complete] == whole.pixels.bytes[..<complete])
        #expect(image.pixels.bytes[complete...].allSatisfy { $0 == 0 })
    }

    @Test(arguments: EncodeOptions.formats)
    func allowedPartialImageEqualsPartialImageOfError(format: ImageFormat) throws {
        let file = try file(format)
        let cut = Array(file.prefix(file.count / 2))
        let decoder = StreamingDecoder()
        _ = failure(cut, of: decoder)
        let image = try decode(cut, options: Self.partial)
        #expect(image == decoder.partialImage)
        #expect(try decode(cut, options: Self.partial) { 7 } == image)
    }

    @Test(arguments: EncodeOptions.formats)
    func wholeFilesAreNotPartial(format: ImageFormat) throws {
        let file = try file(format)
        let image = try decode(file, options: Self.partial)
        #expect(!image.isPartial)
        #expect(image.completeRows == 80)
        #expect(try image == decode(file))
    }

    @Test(arguments: EncodeOptions.formats)
    func fileWithoutACompleteRowHasNoPartialImage(format: ImageFormat) throws {
        let file = try file(format)
        let header = try #require((0..<file.count).first { (try? probe(Array(file.prefix($0)))) != nil })
        for count in [0, 3, 12, header, header + 8] {
            let cut = Array(file.prefix(count))
            #expect(throws: CodecError.self) { try decode(cut, options: Self.partial) }
            let decoder = StreamingDecoder()
            _ = failure(cut, of: decoder)
            #expect(decoder.partialImage == nil)
        }
    }

    @Test(arguments: [1, 7, 64, 4_096])
    func cutInterlacedImageKeepsRowsOfItsLastPass(step: Int) throws {
        let pixels = TestImage.noise(40, 32, seed: 3, isOpaque: true)
        let file = TestPNG.interlaced(pixels)
        // The last pass, every other row, is half of the data.
        for share in [6, 7, 8] {
            let cut = Array(file.prefix(file.count * share / 10))
            let image = try decode(cut, options: Self.partial) { step }
            #expect(image.isPartial && image.completeRows == 32)
            // All data received before: even rows, and odd ones as far as available; those below are interpolated.
            let complete = (0..<32).filter { y in row(y, of: image.pixels) == row(y, of: pixels) }
            #expect(complete.filter { $0 % 2 == 0 } == Array(stride(from: 0, to: 32, by: 2)))
            let odd = complete.filter { $0 % 2 == 1 }
            #expect(!odd.isEmpty && odd.count < 16 && odd == Array(stride(from: 1, to: odd.count * 2, by: 2)))
        }
    }

    private func row(_ y: Int, of pixels: PixelBuffer) -> ArraySlice<UInt8> {
        pixels.bytes[y * pixels.rowBytes..<(y + 1) * pixels.rowBytes]
    }

    @Test func partialProgressiveImageShowsItsCompleteScans() throws {
        let file = try TestImage.photo(96, 80).encoded(as: .jpeg, quality: 80, isProgressive: true)
        let whole = try decode(file).pixels
        func error(_ pixels: PixelBuffer) -> Int {
            zip(pixels.bytes, whole.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        }
        var last = Int.max
        for share in [4, 6, 8, 9] {
            let image = try decode(Array(file.prefix(file.count * share / 10)), options: Self.partial)
            #expect(image.isPartial)
            #expect(image.completeRows == 80)
            #expect(error(image.pixels) <= last)
            last = error(image.pixels)
        }
        #expect(last < 96 * 80 * 20)
    }

    @Test func partialProgressiveImageShowsRowsOfTheFirstScan() throws {
        let file = try TestImage.photo(96, 160).encoded(as: .jpeg, quality: 80, isProgressive: true)
        let scans = file.indices.dropLast().filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA }
        let middle = scans[0] + (scans[1] - scans[0]) * 2 / 3
        let image = try decode(Array(file.prefix(middle)), options: Self.partial)
        #expect(image.completeRows > 40 && image.completeRows < 160)
        let complete = image.completeRows * 96 * 4
        #expect(stride(from: 3, to: complete, by: 4).allSatisfy { image.pixels.bytes[$0] == 255 })
        #expect(image.pixels.bytes[complete...].allSatisfy { $0 == 0 })
        let small = try decode(
            Array(file.prefix(middle)), options: DecodeOptions(target: .maximumSide(20), allowsPartial: true))
        #expect(small.completeRows > 4 && small.completeRows < 20)
    }

    @Test func secondJPEGFrameHeaderKeepsEarlierScans() throws {
        let file = try TestImage.photo(96, 80).encoded(as: .jpeg, quality: 80, isProgressive: true)
        let scans = file.indices.dropLast().filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA }
        let second: [UInt8] = [0xFF, 0xC2, 0, 11, 8, 0xFF, 0xFF, 0xFF, 0xFF, 200, 1, 0x11, 0]
        let damaged = file[..<scans[2]] + second + file[scans[2]...]
        let image = try decode(Array(damaged), options: Self.partial)
        #expect(image.isPartial && image.completeRows == 80)
        let small = DecodeOptions(target: .maximumSide(30), allowsPartial: true)
        #expect(try decode(Array(damaged), options: small).completeRows == 25)
    }

    @Test func damagedDataOfAJPEGAreAnErrorUnlessAllowed() throws {
        var file = try file(.jpeg)
        let scan = try #require(file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
        // A marker that is not allowed here.
        file.replaceSubrange((scan + file.count) / 2..<(scan + file.count) / 2 + 2, with: [0xFF, 0xD5])
        let decoder = StreamingDecoder()
        guard case .corrupt(.jpeg, _) = failure(file, of: decoder) else {
            Issue.record("not corrupt")
            return
        }
        let before = try #require(decoder.partialImage)
        #expect(before.completeRows > 8 && before.completeRows < 80)
        let image = try decode(file, options: Self.partial)
        #expect(image.isPartial)
        #expect(image.completeRows == 80)
        let complete = before.completeRows * 96 * 4
        #expect(image.pixels.bytes[..<complete] == before.pixels.bytes[..<complete])
    }

    @Test(arguments: JPEGOptions.ChromaSubsampling.allCases, [false, true])
    func rowsAboveDamageAreKeptInPiecesOfAnySize(chroma: JPEGOptions.ChromaSubsampling, isEnd: Bool) throws {
        let picture = TestImage.photo(96, 160)
        let file = try picture.encoded(with: .jpeg(JPEGOptions(quality: 80, chroma: chroma)))
        let whole = try decode(file).pixels
        let scan = try #require(file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
        for place in stride(from: scan + 200, to: file.count - 200, by: 397) {
            var damaged = file
            damaged.replaceSubrange(place..<place + 2, with: [0xFF, isEnd ? 0xD9 : 0xD5])
            func partial(_ piece: Int) -> DecodedImage? {
                let decoder = StreamingDecoder()
                #expect(throws: CodecError.self) {
                    for start in stride(from: 0, to: damaged.count, by: piece) {
                        try append(damaged, start..<min(start + piece, damaged.count), to: decoder)
                        if decoder.plan != nil { try decoder.begin() }
                    }
                    _ = try decoder.finish()
                }
                return decoder.partialImage
            }
            let image = partial(damaged.count)
            #expect(image == partial(9), "at \(place)")
            guard let image else { continue }
            let complete = image.completeRows * 96 * 4
            #expect(image.pixels.bytes[..<complete] == whole.bytes[..<complete], "at \(place)")
        }
    }

    @Test func cutInterlacedImageKeepsEarlierPasses() throws {
        let file = try TestPNG.interlaced(TestImages.photo(width: 40, height: 40))
        let image = try decode(Array(file.prefix(file.count * 3 / 4)), options: Self.partial)
        #expect(image.isPartial)
        #expect(image.completeRows == 40)
        #expect(image.pixels.isOpaque)
    }

    @Test(arguments: ImageOrientation.allCases)
    func partialImagesAreTurnedAndScaled(orientation: ImageOrientation) throws {
        let image = TestImage.photo(120, 80)
        let file = TestExif.inserted(into: try image.encoded(as: .jpeg, quality: 80), orientation)
        let options = DecodeOptions(target: .maximumSide(60), allowsPartial: true)
        let whole = try decode(file, options: options)
        let cut = try decode(Array(file.prefix(file.count * 3 / 4)), options: options)
        #expect(cut.isPartial)
        #expect(cut.pixels.size == whole.pixels.size)
        #expect(cut.completeRows > 4 && cut.completeRows < 40)
        let missing = (40 - cut.completeRows) * 60
        let transparent = stride(from: 3, to: cut.pixels.bytes.count, by: 4).count { cut.pixels.bytes[$0] == 0 }
        #expect(transparent == missing)
    }

    /// Rows that become columns are written in groups of 16; here the number of decoded rows is no multiple of it.
    @Test(arguments: ImageOrientation.allCases, [60, 120])
    func turnedPartialImageHasAllDecodedRows(orientation: ImageOrientation, side: Int) throws {
        let file = try TestImage.photo(120, 80).encoded(as: .jpeg, quality: 80)
        let options = DecodeOptions(target: .maximumSide(side), allowsPartial: true)
        let count = file.count * 3 / 4
        let upright = try decode(Array(file.prefix(count)), options: options)
        try #require(upright.isPartial && upright.completeRows % 16 != 0)
        let cut = TestExif.inserted(into: Array(file.prefix(count)), orientation)
        let turned = try decode(cut, options: options)
        #expect(turned.completeRows == upright.completeRows)
        #expect(turned.pixels == upright.pixels.turned(orientation))
    }

    @Test func nothingIsDecodedAfterTheDamage() throws {
        var file = try file(.png)
        let data = try #require(file.indices.first { file[$0...].starts(with: Array("IDAT".utf8)) })
        for offset in 0..<40 { file[(data + file.count) / 2 + offset] ^= 0x5A }
        let decoder = StreamingDecoder(options: Self.partial)
        try append(file, to: decoder)
        try decoder.begin()
        #expect(decoder.needsNoMoreBytes)
        try append(file, to: decoder)
        #expect(try decoder.finish().isPartial)
    }

    @Test func exceededLimitIsAnErrorEvenIfPartialIsAllowed() throws {
        let file = try TestImage.photo(64, 64).encoded(as: .jpeg, quality: 80, isProgressive: true)
        let decoder = StreamingDecoder(options: Self.partial, limits: DecodeLimits(maximumScans: 3))
        #expect(failure(file, of: decoder) == .overLimit(.scans, value: 4, limit: 3))
        #expect(decoder.partialImage == nil)
    }

    @Test func cutAnimationConsistsOfItsCompleteFrames() throws {
        let frame = TestGIF.Frame(width: 2, height: 1, indices: [0, 1])
        let file = TestGIF(width: 2, height: 1).file([frame, frame, frame])
        let image = try AnimatedImage(Array(file.dropLast(5)), options: Self.partial)
        #expect(image.isPartial)
        #expect(image.frameCount == 2)
        #expect(try AnimationDecoder(image).frame(at: 1).bytes == [255, 0, 0, 255, 0, 255, 0, 255])
    }

    @Test func animationCutInItsFirstFrameIsAStillImage() throws {
        let frame = TestGIF.Frame(width: 2, height: 400, indices: (0..<800).map { UInt8($0 % 2) })
        let file = TestGIF(width: 2, height: 400).file([frame, frame])
        let image = try AnimatedImage(Array(file.prefix(400)), options: Self.partial)
        #expect(image.isPartial && image.frameCount == 1)
        let decoder = AnimationDecoder(image)
        #expect(try decoder.frame(at: 0).bytes.prefix(8) == [255, 0, 0, 255, 0, 255, 0, 255])
        #expect(decoder.partialFrames == [0])
    }
}
