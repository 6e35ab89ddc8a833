import AsyncWebImage
import ImageCodecs
import Testing

@testable import webimage

struct FormatsCommandTests {
    @Test func formatsOfThisBuildAreListed() {
        let lines = FormatsCommand.lines
        #expect(
            lines.prefix(6) == [
                "jpeg\treads and writes", "png\treads and writes", "webp\treads and writes", "gif\treads and writes",
                "bmp\treads", "ico\treads",
            ])
        var (known, missing): ([String], [String]) = ([], [])
        #if AVIF
        known.append("avif\treads")
        #else
        missing.append("avif\tnot built in; make install FORMATS=avif")
        #endif
        #if TIFF
        known.append("tiff\treads")
        #else
        missing.append("tiff\tnot built in; make install FORMATS=tiff")
        #endif
        #expect(lines.dropFirst(6).elementsEqual(known + missing))
    }

    #if !AVIF
    @Test func failureTellsHowToGetAFormatThatIsNotBuiltIn() {
        let remedy = "this command was built without AVIF: build it with make install FORMATS=avif"
        let error = CodecError.unsupportedFormat("AVIF")
        for failure in [ImageFailure(error), ImageFailure(ImageError.codec(error, url: "https://example.com/a"))] {
            #expect(failure.code == .unsupported)
            #expect(failure.message.hasSuffix("; " + remedy))
        }
        #expect(!ImageFailure(CodecError.unsupportedFormat("HEIC")).message.contains("make"))
    }
    #endif
}
