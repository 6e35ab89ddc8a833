import Testing

@testable import ImageCodecs

/// The defaults that the documentation states.
struct OptionsDefaultsTests {
    @Test func defaultDecodeIsUprightFullSize8BitRGBA() {
        let expected = DecodeOptions(
            target: .original, resampling: Resampling(filter: .lanczos3, usesLinearLight: false),
            allowsUpscaling: false, ignoresOrientation: false, stopsWhenComplete: false, allowsPartial: false,
            keepsProfile: false, pixelFormat: .rgba8)
        #expect(DecodeOptions() == expected)
    }

    @Test func defaultTargetInBytesIs60MiB() {
        #expect(DecodeOptions.Target.maximumBytes() == .maximumBytes(60 << 20))
    }

    @Test(arguments: [(12, 12), (100, 100), (5_000, 4_096), (-1, 0)])
    func maximumSignatureLengthIs4096Bytes(length: Int, usable: Int) {
        #expect(ImageFormat.signatureLength == 12)
        #expect(TestFormat(signatureLength: length).usableSignatureLength == usable)
    }
}
