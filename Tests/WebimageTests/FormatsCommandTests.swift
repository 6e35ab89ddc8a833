import ArgumentParser
import AsyncWebImage
import ImageCodecs
import ImageEncoders
import Testing

#if AVIF
import ImageFormatAVIF
#endif
#if JPEGXL
import ImageFormatJPEGXL
#endif

@testable import webimage

struct FormatsCommandTests {
    @Test func formatsOfThisBuildAreListed() {
        let lines = FormatsCommand.lines
        #expect(
            lines.prefix(6) == [
                "jpeg\treads and writes", "png\treads and writes", "webp\treads and writes", "gif\treads and writes",
                "bmp\treads", "ico\treads",
            ])
        #if AVIF
        #expect(lines.contains("avif\treads and writes"))
        #else
        #expect(lines.contains("avif\tnot built in; make install FORMATS=avif"))
        #endif
        #if HEIC
        #expect(lines.contains("heic\treads"))
        #else
        #expect(lines.contains("heic\tnot built in; make install FORMATS=heic"))
        #endif
        #if JPEGXL
        #expect(lines.contains("jpegxl\treads and writes"))
        #else
        #expect(lines.contains("jpegxl\tnot built in; make install FORMATS=jpegxl"))
        #endif
        #if TIFF
        #expect(lines.contains("tiff\treads"))
        #else
        #expect(lines.contains("tiff\tnot built in; make install FORMATS=tiff"))
        #endif
        #if SVG
        #expect(lines.contains("svg\treads"))
        #else
        #expect(lines.contains("svg\tnot built in; make install FORMATS=svg"))
        #endif
        #expect(lines.count == 6 + CommandFormats.optional.count)
    }

    /// Returns the reason why the command refuses the arguments.
    private func message(_ command: (some ParsableCommand).Type, _ arguments: String...) -> String {
        do {
            _ = try command.parse(arguments)
            return ""
        } catch {
            return command.message(for: error)
        }
    }

    #if AVIF
    @Test func qualityOfAVIFFollowsTheArguments() throws {
        func encoding(_ arguments: String...) throws -> EncodeOptions {
            try GetCommand.parse(["--format", "avif", "photo.jpg"] + arguments).plan.encoding(.avif)
        }
        #expect(try encoding() == .avif())
        #expect(try encoding("--quality", "30") == .avif(AVIFEncoder(quality: 30)))
        #expect(try encoding("--lossless") == .avif(AVIFEncoder(isLossless: true)))
        #expect(try GetCommand.parse(["-o", "x/a.avif", "photo.jpg"]).plan.mode == .verified(.avif))
        #expect(try GetCommand.parse(["-o", "x/a.avif", "--lossless", "photo.jpg"]).plan.mode == .converted(.avif))
        #expect(message(GetCommand.self, "--format", "avif", "--progressive", "photo.jpg").contains("applies to JPEG"))
    }
    #else
    @Test func formatThatIsNotBuiltInIsNotWritten() throws {
        let remedy = "this command was built without AVIF: build it with make install FORMATS=avif."
        #expect(message(GetCommand.self, "--format", "avif", "photo.jpg").contains(remedy))
        #expect(message(GetCommand.self, "-o", "x/a.avif", "photo.jpg").contains(remedy))
        #expect(message(BatchCommand.self, "--input", "-", "-o", "x", "--format", "avif").contains(remedy))
    }
    #endif

    #if JPEGXL
    @Test func qualityOfJPEGXLFollowsTheArguments() throws {
        func encoding(_ arguments: String...) throws -> EncodeOptions {
            try GetCommand.parse(["--format", "jpegxl", "photo.jpg"] + arguments).plan.encoding(.jpegXL)
        }
        #expect(try encoding() == .jpegXL())
        #expect(try encoding("--quality", "30") == .jpegXL(JPEGXLEncoder(quality: 30)))
        #expect(try encoding("--lossless") == .jpegXL(JPEGXLEncoder(isLossless: true)))
        #expect(try GetCommand.parse(["-o", "x/a.jxl", "photo.jpg"]).plan.mode == .verified(.jpegXL))
        #expect(OutputFormat(argument: "JXL")?.imageFormat == .jpegXL)
        #expect(OutputFormat(fileExtension: "jpegxl") == nil)
    }
    #else
    @Test func jpegXLThatIsNotBuiltInIsNotWritten() throws {
        let remedy = "this command was built without JPEG XL: build it with make install FORMATS=jpegxl."
        #expect(message(GetCommand.self, "--format", "jpegxl", "photo.jpg").contains(remedy))
        #expect(message(GetCommand.self, "-o", "x/a.jxl", "photo.jpg").contains(remedy))
    }
    #endif

    #if !AVIF
    @Test func failureTellsHowToGetAFormatThatIsNotBuiltIn() {
        let remedy = "this command was built without AVIF: build it with make install FORMATS=avif"
        let error = CodecError.unsupportedFormat("AVIF")
        for failure in [ImageFailure(error), ImageFailure(ImageError.codec(error, url: "https://example.com/a"))] {
            #expect(failure.code == .unsupported)
            #expect(failure.message.hasSuffix("; " + remedy))
        }
        #expect(!ImageFailure(CodecError.unsupportedFormat("JPEG 2000")).message.contains("make"))
    }
    #endif
}
