import ArgumentParser
import AsyncWebImage
import ImageEncoders
import Testing

@testable import webimage

struct GetCommandTests {
    private func options(_ arguments: String...) throws -> DecodeOptions {
        try GetCommand.parse(arguments + ["photo.jpg"]).decodeOptions
    }

    private func message(_ arguments: String...) -> String {
        do {
            _ = try GetCommand.parse(arguments + ["photo.jpg"])
            return ""
        } catch {
            return GetCommand.message(for: error)
        }
    }

    @Test func sizesBecomeTargets() throws {
        #expect(try options() == DecodeOptions())
        #expect(try options("--max-pixel-size", "300").target == .maximumSide(300))
        #expect(try options("--fit", "640x480").target == .fit(PixelSize(width: 640, height: 480)))
        #expect(try options("--fill", "1x99999").target == .fill(PixelSize(width: 1, height: 99_999)))
        #expect(try options("--ignore-orientation").ignoresOrientation)
        #expect(try options("--allow-partial").allowsPartial)
    }

    @Test(arguments: Resampling.Filter.allCases)
    func filtersHaveNames(filter: Resampling.Filter) throws {
        let options = try options("--fit", "9x9", "--filter", filter.rawValue)
        #expect(options.resampling == Resampling(filter: filter))
    }

    @Test(arguments: ["640", "640x", "x480", "640X480", "640x480x1", "0x480", "640x-1", "+6x4", " 6x4", "1e3x4", ""])
    func invalidSizesAreRejected(text: String) {
        #expect(message("--fit", text) == "The value '\(text)' is invalid for '--fit <WxH>'")
    }

    @Test func conflictingOptionsAreNamed() {
        #expect(message("--fit", "9x9", "--fill", "9x9") == "--fit and --fill cannot be combined.")
        #expect(
            message("--max-pixel-size", "9", "--fill", "9x9") == "--max-pixel-size and --fill cannot be combined.")
        #expect(
            message("--filter", "box") == "--filter applies to shrinking: add --max-pixel-size, --fit, or --fill.")
        #expect(
            message("--format", "original", "--fill", "9x9")
                == "--format original writes what was downloaded; --fill cannot change it.")
        #expect(message("--fit", "9x9", "--filter", "sharp").hasPrefix("The value 'sharp' is invalid for '--filter"))
    }

    @Test func previewsAreOfURLs() throws {
        let words = "--progressive-dir applies to URLs: local files have no previews."
        #expect(message("--progressive-dir", "previews") == words)
        #expect(message("--progressive-dir", "previews", "file:///a.jpg") == words)
        for source in [["https://example.com/a.jpg"], ["--input", "list"]] {
            let command = ["--progressive-dir", "previews", "photo.jpg"] + source
            #expect(throws: Never.self) { try GetCommand.parse(command) }
        }
    }

    @Test func encodingOptionsFollowTheArguments() throws {
        func encoding(_ format: ImageFormat, _ arguments: String...) throws -> EncodingOptions {
            try GetCommand.parse(arguments + ["photo.jpg"]).plan.encoding(format)
        }
        #expect(try encoding(.jpeg) == .jpeg(JPEGOptions(quality: 85)))
        #expect(try encoding(.webp, "--format", "webp", "--quality", "7") == .webp(WebPOptions(quality: 7)))
        #expect(try encoding(.webp, "--format", "webp", "--lossless") == .webp(WebPOptions(isLossless: true)))
        #expect(
            try encoding(.jpeg, "--fit", "9x9", "--quality", "50", "--progressive")
                == .jpeg(JPEGOptions(quality: 50, isProgressive: true)))
        #expect(try encoding(.png, "--fit", "9x9", "--progressive") == .png())
    }

    @Test func aProfileIsKeptWhereItCanBe() throws {
        #expect(try GetCommand.parse(["--keep-profile", "photo.jpg"]).plan.options.keepsProfile)
        #expect(try GetCommand.parse(["--keep-profile", "photo.jpg"]).plan.mode == .verified)
        #expect(
            message("--keep-profile", "--format", "gif")
                == "GIF files cannot contain profiles: --keep-profile applies to other formats.")
        #expect(message("--keep-profile", "--format", "original").contains("--keep-profile cannot change it"))
    }

    @Test func anOptionOfAnotherFormatIsRefused() {
        for format in ["png", "gif", "original"] {
            #expect(
                message("--format", format, "--quality", "50")
                    == "--quality applies to JPEG and WebP, not to --format \(format).")
        }
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
            message("--quality", "50") == "--quality applies to converted images: add --format jpeg, or a size option.")
        #expect(message("--format", "jpeg", "--quality", "0") == "--quality must be from 1 to 100.")
        #expect(message("--allow-partial", "--quality", "50").isEmpty)
    }
}

/// `webimage get --cache`.
@Suite struct CacheOptionTests {
    @Test func cachePoliciesHaveArguments() throws {
        let command = try GetCommand.parse(["--cache", "folder", "--cache-policy", "cache-only", "photo.jpg"])
        #expect(command.cache == "folder" && command.cachePolicy?.policy == .cacheOnly)
        #expect(try GetCommand.parse(["photo.jpg"]).cache == nil)
        #expect(throws: (any Error).self) { try GetCommand.parse(["--cache-policy", "reload", "photo.jpg"]) }
        #expect(throws: (any Error).self) {
            try GetCommand.parse(["--cache", "folder", "--cache-policy", "often", "photo.jpg"])
        }
    }
}
