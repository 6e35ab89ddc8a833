#if AVIF
import CAVIF
import ImageCodecs
import ImageEncoders
import ImageFormatAVIF
import ImageTestSupport
import Testing

struct AVIFFormatTests {
    private static let formats: [any CustomFormat] = [AVIFFormat()]

    private func decode(
        _ file: [UInt8], _ options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> DecodedImage {
        try StreamingDecoder.decode(file.span, options: options, limits: limits, customFormats: Self.formats)
    }

    @Test(
        arguments: [8, 10, 12] as [UInt32],
        [AVIF_PIXEL_FORMAT_YUV444, AVIF_PIXEL_FORMAT_YUV422, AVIF_PIXEL_FORMAT_YUV420, AVIF_PIXEL_FORMAT_YUV400].map(
            \.rawValue))
    func pixelsAreThoseOfLibavif(depth: UInt32, layout: UInt32) throws {
        for isOpaque in [true, false] {
            let image = try TestImages.photo(width: 45, height: 70, hasAlpha: !isOpaque)
            let file = try TestAVIF(depth: depth, layout: avifPixelFormat(layout), isOpaque: isOpaque).file([image])
            let decoded = try decode(file, DecodeOptions(pixelFormat: depth > 8 ? .rgba16 : .rgba8))
            let samples =
                depth > 8
                ? stride(from: 0, to: decoded.pixels.bytes.count, by: 2).map {
                    UInt16(decoded.pixels.bytes[$0]) | UInt16(decoded.pixels.bytes[$0 + 1]) << 8
                } : decoded.pixels.bytes.map(UInt16.init)
            #expect(try samples == TestAVIF.samples(file))
            #expect(decoded.header.bitsPerChannel == Int(depth))
            #expect(decoded.header.hasAlpha == !isOpaque)
            #expect(decoded.header.format == .avif && decoded.header.frameCount == 1)
        }
    }

    @Test func fileIsDecodedHoweverItArrives() throws {
        let image = try TestImages.photo(width: 9, height: 7, hasAlpha: true)
        let file = try image.encoded(with: .avif(AVIFEncoder(isLossless: true)))
        let deliveries = (1..<file.count).map { [0..<$0, $0..<file.count] } + [file.indices.map { $0..<$0 + 1 }]
        for pieces in deliveries {
            let decoder = StreamingDecoder(customFormats: Self.formats)
            for piece in pieces { try append(file, piece, to: decoder) }
            #expect(try decoder.finish().pixels == image)
        }
    }

    @Test(arguments: 0..<4, [nil, 0, 1] as [UInt8?])
    func rotationAndReflectionAreApplied(turns: Int, mirror: UInt8?) throws {
        let image = TestImage.photo(12, 8)
        let file = try TestAVIF { image in
            if turns > 0 {
                image.pointee.transformFlags |= AVIF_TRANSFORM_IROT.rawValue
                image.pointee.irot.angle = UInt8(turns)
            }
            if let mirror {
                image.pointee.transformFlags |= AVIF_TRANSFORM_IMIR.rawValue
                image.pointee.imir.mode = mirror
            }
        }.file([image])
        let stored = try decode(file, DecodeOptions(ignoresOrientation: true)).pixels
        // Pixels by place: first turned to the left, then reflected.
        var rows = (0..<8).map { y in (0..<12).map { x in Array(stored.bytes[(y * 12 + x) * 4..<(y * 12 + x) * 4 + 4]) }
        }
        for _ in 0..<turns {
            let old = rows
            rows = old[0].indices.reversed().map { x in old.indices.map { y in old[y][x] } }
        }
        if mirror == 0 { rows.reverse() }
        if mirror == 1 { rows = rows.map { $0.reversed() } }
        let upright = try decode(file)
        #expect(upright.pixels.bytes == rows.flatMap { $0.flatMap(\.self) })
        #expect(upright.originalSize.width == rows[0].count)
    }

    @Test func gainMapIsReported() throws {
        let file = try TestAVIF().file([TestImage.photo(12, 8)])
        let plain = try decode(file)
        #expect(!plain.header.hasGainMap)
        let image = try decode(TestItems.adding(item: "tmap", to: file))
        #expect(image.header.hasGainMap && image.pixels == plain.pixels)
        #expect(try !decode(TestItems.adding(item: "Exif", to: file)).header.hasGainMap)
    }

    @Test func gainMapOfADamagedFileIsLookedForInItsBytesOnly() throws {
        let file = try TestItems.adding(item: "tmap", to: TestAVIF().file([TestImage.photo(12, 8)]))
        for length in file.indices { _ = ItemBoxes.announceGainMap(in: file.span.extracting(0..<length)) }
        for position in 0..<min(file.count, 600) {
            for byte in [0, 1, 2, 0x7F, 0xFF] as [UInt8] {
                var damaged = file
                damaged[position] = byte
                _ = ItemBoxes.announceGainMap(in: damaged.span)
            }
        }
    }

    @Test func cropIsApplied() throws {
        let image = TestImage.photo(40, 30)
        let file = try TestAVIF { image in
            image.pointee.transformFlags |= AVIF_TRANSFORM_CLAP.rawValue
            // 20 by 10 pixels, whose center is that of the image moved by 4 and -3.
            image.pointee.clap = avifCleanApertureBox(
                widthN: 20, widthD: 1, heightN: 10, heightD: 1, horizOffN: 4, horizOffD: 1,
                vertOffN: UInt32(bitPattern: -3), vertOffD: 1)
        }.file([image])
        let all = try TestAVIF.samples(file)
        let cropped = try decode(file).pixels
        #expect(cropped.size == PixelSize(width: 20, height: 10))
        for y in 0..<10 {
            let start = ((y + 7) * 40 + 14) * 4
            #expect(cropped.bytes[y * 80..<(y + 1) * 80].elementsEqual(all[start..<start + 80].map(UInt8.init)))
        }
    }

    @Test func sequenceIsAnAnimation() throws {
        let frames = try TestImages.wanderingSquare(5)
        let file = try TestAVIF().file(frames)
        let image = try AnimatedImage(file, customFormats: Self.formats)
        #expect(image.frameCount == 5 && image.header.frameCount == 5)
        #expect(image.delays == [100, 200, 300, 400, 500].map { .milliseconds($0) })
        #expect(image.repetitionCount == 0)
        let decoder = AnimationDecoder(image, windowBytes: 0)
        for index in [0, 1, 4, 2, 0] {
            let expected = try TestAVIF.samples(file, frame: UInt32(index)).map(UInt8.init)
            #expect(try decoder.frame(at: index).bytes == expected, "frame \(index)")
        }
        #expect(try ImageVerifier.verify(file.span, customFormats: Self.formats).frameCount == 5)
        #expect(try decode(file).pixels.bytes == TestAVIF.samples(file).map(UInt8.init))
        #expect(throws: CodecError.overLimit(.frames, value: 5, limit: 4)) {
            try AnimatedImage(file, limits: DecodeLimits(maximumFrames: 4), customFormats: Self.formats)
        }
    }

    @Test(
        arguments: [
            (1, 13, .unneeded, nil), (2, 2, .unneeded, nil), (12, 13, .converted, "Display P3"),
            (9, 1, .converted, "BT.2020"), (9, 16, .converted, "BT.2020 PQ"), (9, 18, .converted, "BT.2020 HLG"),
            (9, 17, .unsupported, nil),
        ] as [(UInt16, UInt16, ColorConversion, String?)])
    func codePointsDecideTheConversion(
        primaries: UInt16, transfer: UInt16, conversion: ColorConversion, name: String?
    ) throws {
        let file = try TestAVIF { image in
            image.pointee.colorPrimaries = primaries
            image.pointee.transferCharacteristics = transfer
        }.file([TestImage.photo(8, 8)])
        let decoded = try decode(file)
        #expect(decoded.header.colorConversion == conversion)
        #expect(decoded.header.colorProfile == name)
        let isSame = try decoded.pixels.bytes.map(UInt16.init) == TestAVIF.samples(file)
        #expect(isSame == (conversion != .converted))
    }

    @Test func limitsAreCheckedBeforeDecoding() throws {
        let file = try TestImage.photo(40, 30).encoded(with: .avif())
        #expect(throws: CodecError.overLimit(.pixels, value: 1_200, limit: 1_199)) {
            try decode(file, limits: DecodeLimits(maximumPixels: 1_199))
        }
        #expect(throws: CodecError.overLimit(.side, value: 40, limit: 39)) {
            try decode(file, limits: DecodeLimits(maximumSide: 39))
        }
    }

    @Test func bytesAfterTheImageAreIgnored() throws {
        let image = TestImage.photo(20, 10)
        let file = try image.encoded(with: .avif(AVIFEncoder(isLossless: true)))
        for rest in ["\n", "a line of text\n", "\0\0\0"] {
            #expect(try decode(file + Array(rest.utf8)).pixels == image)
        }
    }

    @Test func cropThatHidesMostOfTheImageIsNotSupported() throws {
        let file = try TestAVIF { image in
            image.pointee.transformFlags |= AVIF_TRANSFORM_CLAP.rawValue
            image.pointee.clap = avifCleanApertureBox(
                widthN: 10, widthD: 1, heightN: 10, heightD: 1, horizOffN: 0, horizOffD: 1, vertOffN: 0, vertOffD: 1)
        }.file([TestImage.photo(400, 300)])
        #expect(throws: CodecError.unsupportedFeature(.avif, "a crop that hides most of the image")) {
            try decode(file)
        }
    }

    @Test func truncatedFileIsAnError() throws {
        for file in [
            try TestImage.photo(20, 10).encoded(with: .avif()), try TestAVIF().file(TestImages.wanderingSquare(3)),
        ] {
            for count in 0..<file.count - 1 {
                let cut = Array(file.prefix(count))
                #expect(throws: CodecError.self, "\(count) bytes") {
                    try AnimatedImage(cut, customFormats: Self.formats).allFrames()
                }
            }
        }
    }

    @Test func damagedFileGivesAnErrorOrAnImage() throws {
        let limits = DecodeLimits(maximumPixels: 1 << 16, maximumFrames: 20, maximumWork: 1 << 19)
        let image = try TestImages.photo(width: 20, height: 10, hasAlpha: true)
        for file in [try image.encoded(with: .avif()), try TestAVIF().file(TestImages.wanderingSquare(3))] {
            for seed in 0..<400 as Range<UInt64> {
                var random = SeededGenerator(seed: seed)
                var damaged = file
                for _ in 0...seed % 3 {
                    damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                guard let image = try? AnimatedImage(damaged, limits: limits, customFormats: Self.formats) else {
                    continue
                }
                if let frames = try? image.allFrames() { #expect(frames.allSatisfy { $0.size == image.size }) }
            }
        }
    }

    @Test func decodeStopsWhenItsTaskIsCanceled() async throws {
        let file = try TestImage.photo(20, 10).encoded(with: .avif())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try StreamingDecoder.decode(file.span, customFormats: Self.formats)
        }
        let result = await task.result
        #expect(throws: CodecError.cancelled(.avif)) { try result.get() }
    }

    @Test func otherFilesAreNotRecognized() throws {
        for brand in ["heic", "mif1", "isom"] {
            let bytes = Array("\0\0\0\u{18}ftyp\(brand)\0\0\0\0mif1miaf".utf8)
            let isRecognized = AVIFFormat().recognizes(bytes.span)
            #expect(!isRecognized)
        }
        let compatible = Array("\0\0\0\u{18}ftypmif1\0\0\0\0mif1avif".utf8)
        let isRecognized = AVIFFormat().recognizes(compatible.span)
        #expect(isRecognized)
    }
}
#endif
