import ArgumentParser
import AsyncWebImage
import ImageEncoders
import Testing

@testable import webimage

struct GetCommandTests {
    private func message(_ arguments: String...) -> String {
        do {
            _ = try GetCommand.parse(arguments + ["photo.jpg"])
            return ""
        } catch {
            return GetCommand.message(for: error)
        }
    }

    @Test func decodeOptionsFollowTheArguments() throws {
        func options(_ arguments: String...) throws -> DecodeOptions {
            try GetCommand.parse(arguments + ["photo.jpg"]).plan.options
        }
        #expect(try options() == DecodeOptions())
        #expect(try options("--ignore-orientation").ignoresOrientation)
        #expect(try options("--allow-partial").allowsPartial)
        #expect(try options("--fit", "9x9", "--keep-profile").keepsProfile)
    }

    @Test func previewOptionRequiresURLs() throws {
        let words = "--progressive-dir applies to URLs: local files have no previews."
        #expect(message("--progressive-dir", "previews") == words)
        #expect(message("--progressive-dir", "previews", "file:///a.jpg") == words)
        for source in [["https://example.com/a.jpg"], ["--input", "-"]] {
            let command = ["--progressive-dir", "previews", "photo.jpg"] + source
            #expect(throws: Never.self) { try GetCommand.parse(command) }
        }
    }

    @Test func encodingOptionsFollowTheArguments() throws {
        func encoding(_ format: ImageFormat, _ arguments: String...) throws -> EncodeOptions {
            try GetCommand.parse(arguments + ["photo.jpg"]).plan.encoding(format)
        }
        #expect(try encoding(.webp, "--format", "webp", "--quality", "7") == .webp(WebPOptions(quality: 7)))
        #expect(try encoding(.webp, "--format", "webp", "--lossless") == .webp(WebPOptions(isLossless: true)))
        #expect(
            try encoding(.jpeg, "--fit", "9x9", "--quality", "50", "--progressive")
                == .jpeg(JPEGOptions(quality: 50, isProgressive: true)))
        #expect(try encoding(.png, "--fit", "9x9", "--progressive") == .png())
    }

    @Test func anOptionOfAnotherFormatIsRejected() {
        for format in ["png", "gif", "webp", "original"] {
            #expect(
                message("--format", format, "--progressive")
                    == "--progressive applies to JPEG, not to --format \(format).")
        }
        for arguments in [[], ["--format", "jpeg"], ["--fit", "9x9"]] {
            let command = arguments + ["--lossless", "photo.jpg"]
            #expect(throws: (any Error).self) { try GetCommand.parse(command) }
        }
        #expect(
            message("--format", "webp", "--lossless", "--quality", "50")
                == "--lossless and --quality cannot be combined.")
        #expect(
            message("--progressive")
                == "--progressive applies to converted images: add --format jpeg, --max-pixel-size, --fit, or --fill.")
        #expect(message("--allow-partial", "--quality", "50").isEmpty)
    }
}
