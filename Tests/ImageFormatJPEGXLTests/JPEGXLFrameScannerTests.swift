#if JPEGXL
import ImageCodecs
import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageFormatJPEGXL

/// The scanner admits the bytes of a codestream up to its end, and no frame that exceeds a limit.
struct JPEGXLFrameScannerTests {
    /// The answers of a scanner about a file that arrives in pieces.
    private struct Scan {
        var admitted: [UInt8] = []
        var scanner: JPEGXLFrameScanner
        var error: CodecError?

        init(
            _ file: [UInt8], piece: Int = .max, extent: JPEGXLFrameScanner.Extent = .allFrames, memory: Int = 1 << 30
        ) {
            scanner = JPEGXLFrameScanner(extent, memory: memory)
            do throws(CodecError) {
                var start = 0
                while start < file.count {
                    let count = min(piece, file.count - start)
                    admitted += try scanner.admit(file.span.extracting(start..<start + count))
                    start += count
                }
                admitted += try scanner.admitRest()
            } catch {
                self.error = error
            }
        }
    }

    /// Expects that a codestream is admitted completely, however it arrives.
    private func expectAdmitted(_ codestream: [UInt8], _ comment: Comment? = nil) {
        for piece in [.max, 1_000, 1] {
            let scan = Scan(codestream, piece: piece)
            #expect(scan.error == nil && scan.admitted == codestream && scan.scanner.hasLastFrame, comment)
        }
    }

    /// Expects that a codestream is refused, however it arrives, once `count` bytes have been admitted.
    private func expect(_ error: CodecError, in codestream: TestCodestream, after count: Int, memory: Int = 1 << 30) {
        for piece in [.max, 1] {
            let scan = Scan(codestream.bytes, piece: piece, memory: memory)
            #expect(scan.error == error && scan.admitted.count <= count)
        }
    }

    @Test func framesOfAllKindsAreFollowed() {
        var still = TestCodestream(width: 400, height: 300, hasPreview: true)
        still.addFrame()
        still.addFrame(.lowFrequency, sections: [100])
        still.addFrame(.reference, width: 200, height: 100, slot: 3, sections: [1_000])
        still.addFrame(.notProgressive)
        still.addFrame(width: 700, height: 500, slot: 1)
        still.addFrame(isLast: true, sections: [1_023])
        expectAdmitted(still.bytes)
        var animation = TestCodestream(isAnimated: true, extraChannels: 2)
        animation.addFrame(extraChannels: 2, duration: 7, slot: 1)
        animation.addFrame(.reference, width: 8, height: 8, extraChannels: 2)
        animation.addFrame(extraChannels: 2, duration: 0)
        animation.addFrame(extraChannels: 2, duration: 12)
        animation.addFrame(extraChannels: 2, duration: 0, isLast: true)
        expectAdmitted(animation.bytes)
        #expect(Scan(animation.bytes).scanner.durations == [7, 12, 0])
    }

    @Test func bytesAfterTheLastFrameAreNotAdmitted() {
        var codestream = TestCodestream()
        codestream.addFrame(isLast: true)
        #expect(Scan(codestream.bytes + [1, 2, 3]).admitted == codestream.bytes)
    }

    @Test func scanEndsWithTheFirstShownFrame() {
        var animation = TestCodestream(isAnimated: true)
        animation.addFrame(.reference, width: 8, height: 8)
        animation.addFrame(duration: 1)
        let count = animation.bytes.count
        animation.addFrame(.reference, width: 60_000, height: 60_000)
        #expect(Scan(animation.bytes, extent: .firstFrame).admitted == Array(animation.bytes.prefix(count)))
        let head = TestCodestream(isAnimated: true).bytes
        #expect(Scan(animation.bytes, extent: .header).admitted == head)
    }

    @Test(
        .enabled(if: TestJPEGXL.hasTools, "needs cjxl"),
        arguments: [
            "-d 0", "-d 1", "-d 1 -p", "-d 2 -e 3", "-d 1 -e 7", "-d 0 -e 4 -p", "-m 1 -d 1", "-d 1 --group_order=1",
            "-d 3 --progressive_dc=1",
            "-d 1 --progressive_dc=2", "-d 1 --photon_noise=ISO3200", "-d 0 -g 0", "-d 0 -g 3", "-d 1 --dots=1",
            "-d 1 --patches=1", "-d 0 --patches=1", "-d 1 --epf=3 --gaborish=0",
        ])
    func filesOfCjxlAreAdmittedCompletely(options: String) throws {
        let options = options.split(separator: " ").map(String.init)
        for hasAlpha in [false, true] {
            let image = try TestImages.photo(width: 600, height: 300, hasAlpha: hasAlpha)
            try expectAdmitted(TestJPEGXL.file(image, options))
        }
    }

    @Test(.enabled(if: TestJPEGXL.hasTools, "needs cjxl")) func otherFilesOfCjxlAreAdmittedCompletely() throws {
        try expectAdmitted(TestJPEGXL.file(animation: TestImages.wanderingSquare(5), delay: .milliseconds(120)))
        let image = try TestImages.photo(width: 600, height: 300, hasAlpha: false)
        let png = try image.encoded(with: .png(), metadata: ImageMetadata(colorProfile: TestProfile.table))
        try expectAdmitted(TestJPEGXL.file(png: png, ["-d", "0"]))
    }

    @Test func codestreamIsFoundInAContainer() {
        var codestream = TestCodestream(hasPreview: true)
        for slot in 0..<4 { codestream.addFrame(.reference, width: 8, height: 8, slot: slot) }
        codestream.addFrame()
        codestream.addFrame(isLast: true, sections: [800])
        for piece in [.max, 7, 1] {
            let scan = Scan(codestream.inContainer(), piece: piece)
            #expect(scan.error == nil && scan.admitted == codestream.bytes)
        }
    }

    @Test(arguments: [JPEGXLFrameFields.Kind.regular, .reference, .notProgressive])
    func frameLargerThanTheImageIsRefusedBeforeItIsAdmitted(kind: JPEGXLFrameFields.Kind) {
        var codestream = TestCodestream()
        codestream.addFrame(.reference, width: 1_024, height: 1_024)
        let count = codestream.bytes.count
        codestream.addFrame(kind, width: 1_025, height: 1_024)
        expect(.unsupportedFeature(.jpegXL, "layers larger than the image"), in: codestream, after: count)
        codestream = TestCodestream()
        let head = codestream.bytes.count
        codestream.addFrame(kind, width: 1 << 30, height: 1 << 30)
        expect(.unsupportedFeature(.jpegXL, "a frame of 1116691496962 sections"), in: codestream, after: head)
    }

    @Test func framesThatAreKeptAreCountedTogether() {
        var codestream = TestCodestream()
        // The same place, for which there is memory once.
        for _ in 0..<8 { codestream.addFrame(.reference, width: 1_000, height: 1_000, slot: 1) }
        codestream.addFrame(.reference, width: 1_000, height: 1_000, slot: 2)
        #expect(Scan(codestream.bytes, memory: 20 << 20).error == nil)
        let count = codestream.bytes.count
        codestream.addFrame(.reference, width: 1_000, height: 1_000, slot: 3)
        expect(
            .unsupportedFeature(.jpegXL, "layers that need 84000000 bytes at a time"), in: codestream, after: count,
            memory: 20 << 20)
    }

    @Test func channelsCountAsMemory() {
        var codestream = TestCodestream(width: 512, height: 512, extraChannels: 200)
        let count = codestream.bytes.count
        codestream.addFrame(extraChannels: 200, isLast: true)
        expect(
            .unsupportedFeature(.jpegXL, "layers that need 851443712 bytes at a time"), in: codestream, after: count,
            memory: 32 << 20)
    }

    @Test func workOnHiddenFramesIsLimited() {
        var frame = TestCodestream()
        let head = frame.bytes
        frame.addFrame(.reference, width: 1, height: 1)
        let tiny = Array(frame.bytes.dropFirst(head.count))
        let scan = Scan(head + Array(repeatElement(tiny, count: 5_000).joined()), piece: 1)
        #expect(scan.error == .unsupportedFeature(.jpegXL, "layers of 67129345 pixels"))
        #expect(scan.admitted.count == head.count + 4_096 * tiny.count)
    }

    @Test func profileThatWouldBeLargeIsRefused() {
        let error = CodecError.unsupportedFeature(.jpegXL, "a color profile of more than 4194304 bytes")
        // As coded bytes, and as the declared size, which the first of them are.
        for (count, byte) in [(64 << 20, 0), (1_000, 0xFF)] {
            var codestream = TestCodestream(hasProfile: true)
            let head = codestream.bytes.count
            codestream.addProfile(count: count, byte: byte)
            codestream.addFrame(isLast: true)
            expect(error, in: codestream, after: head + 20)
            #expect(throws: error) { try JPEGXLFormat().header(of: codestream.bytes.span) }
        }
        var codestream = TestCodestream(hasProfile: true)
        codestream.addProfile(count: 100_000, byte: 0)
        codestream.addFrame(isLast: true)
        expectAdmitted(codestream.bytes)
    }

    @Test func hiddenFrameIsRefusedWhereTheFileIsDecoded() throws {
        let error = CodecError.unsupportedFeature(.jpegXL, "layers larger than the image")
        let formats: [any CustomFormat] = [JPEGXLAnimationFormat(), JPEGXLFormat()]
        for isAnimated in [false, true] {
            var codestream = TestCodestream(isAnimated: isAnimated)
            codestream.addFrame(.reference, width: 5_000, height: 5_000, sections: Array(repeating: 1, count: 28))
            codestream.addFrame(duration: isAnimated ? 1 : nil, isLast: true)
            for file in [codestream.bytes, codestream.inContainer()] {
                #expect(throws: error) { try StreamingDecoder.decode(file.span, customFormats: formats) }
                #expect(throws: error) { try ImageVerifier.verify(file.span, customFormats: formats) }
                #expect(throws: error) { try AnimatedImage(file, customFormats: formats).allFrames() }
                #expect(throws: error) { try JPEGXL.jpeg(from: file) }
            }
        }
    }

    @Test func partOfACodestreamIsIncomplete() {
        var codestream = TestCodestream(hasPreview: true, isAnimated: true, extraChannels: 1, hasProfile: true)
        codestream.addProfile(count: 300, byte: 5)
        codestream.addFrame(extraChannels: 1, duration: 0)
        codestream.addFrame(.reference, width: 300, height: 20, extraChannels: 1)
        codestream.addFrame(extraChannels: 1, duration: 1, isLast: true)
        expectAdmitted(codestream.bytes)
        for count in codestream.bytes.indices {
            let scan = Scan(Array(codestream.bytes.prefix(count)))
            #expect(scan.error == nil && codestream.bytes.starts(with: scan.admitted))
            #expect(!scan.scanner.hasLastFrame || count >= codestream.bytes.count - 6)
        }
    }

    @Test func damageIsAnErrorOrNothing() throws {
        var codestream = TestCodestream(hasPreview: true, isAnimated: true, extraChannels: 1, hasProfile: true)
        codestream.addProfile(count: 300, byte: 5)
        for slot in 0..<4 { codestream.addFrame(.reference, width: 300, height: 20, extraChannels: 1, slot: slot) }
        codestream.addFrame(extraChannels: 1, duration: 1, isLast: true)
        let encoded = try TestImage.photo(70, 50).encoded(
            with: .jpegXL(JPEGXLEncoder(isLossless: true)), metadata: ImageMetadata(colorProfile: TestProfile.table))
        for file in [codestream.bytes, codestream.inContainer(), encoded] {
            for seed in 0..<400 as Range<UInt64> {
                var random = SeededGenerator(seed: seed)
                var damaged = file
                for _ in 0...seed % 4 {
                    let index = Int.random(in: 0..<min(file.count, 400), using: &random)
                    damaged[index] = UInt8.random(in: 0...255, using: &random)
                }
                let whole = Scan(damaged, memory: 1 << 24)
                let pieces = Scan(damaged, piece: 5, memory: 1 << 24)
                #expect(whole.error == pieces.error && pieces.admitted.starts(with: whole.admitted), "seed \(seed)")
            }
        }
    }
}
#endif
