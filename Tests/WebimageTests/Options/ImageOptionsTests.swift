import ArgumentParser
import AsyncWebImage
import ImageCodecs
import ImageEncoders
import Testing

@testable import webimage

/// The options for images, which mean the same in `get` and `batch`.
struct ImageOptionsTests {
    /// The commands that have the options.
    enum Tool: CaseIterable {
        case get
        case batch

        func plan(_ arguments: [String]) throws -> OutputPlan {
            switch self {
            case .get: try GetCommand.parse(arguments + ["photo.jpg"]).plan
            case .batch: try BatchCommand.parse(arguments + ["--input", "-", "--output", "-"]).plan
            }
        }

        /// The message for arguments that are refused; empty for others.
        func message(_ arguments: String...) -> String { message(arguments) }

        func message(_ arguments: [String]) -> String {
            do {
                _ = try plan(arguments)
                return ""
            } catch {
                return self == .get ? GetCommand.message(for: error) : BatchCommand.message(for: error)
            }
        }
    }

    @Test(
        arguments: Tool.allCases,
        [
            ([], .original), (["--max-pixel-size", "300"], .maximumSide(300)),
            (["--fit", "640x480"], .fit(PixelSize(width: 640, height: 480))),
            (["--fill", "1x99999"], .fill(PixelSize(width: 1, height: 99_999))),
        ] as [([String], DecodeOptions.Target)])
    func sizeOptionsSelectTheTarget(tool: Tool, expected: (arguments: [String], target: DecodeOptions.Target)) throws {
        #expect(try tool.plan(expected.arguments).options == DecodeOptions(target: expected.target))
    }

    @Test(arguments: Tool.allCases, Resampling.Filter.allCases)
    func filterOptionSelectsTheResamplingFilter(tool: Tool, filter: Resampling.Filter) throws {
        let plan = try tool.plan(["--fit", "9x9", "--filter", filter.rawValue])
        #expect(plan.options.resampling == Resampling(filter: filter))
    }

    @Test(arguments: Tool.allCases) func defaultQualityOptionIs85(tool: Tool) throws {
        func encoding(_ arguments: String...) throws -> EncodeOptions {
            try tool.plan(["--format", "webp"] + arguments).encoding(.webp)
        }
        #expect(try encoding() == .webp(WebPOptions(quality: 85)))
        #expect(try encoding("--quality", "7") == .webp(WebPOptions(quality: 7)))
    }

    @Test func batchConvertsToJPEGByDefaultAndGetByContent() throws {
        #expect(try Tool.get.plan(["--fit", "9x9"]).mode == .converted(nil))
        #expect(try Tool.batch.plan(["--fit", "9x9"]).mode == .converted(.jpeg))
        #expect(try Tool.batch.plan(["--fit", "9x9", "--format", "png"]).mode == .converted(.png))
        for tool in Tool.allCases {
            #expect(try tool.plan([]).mode == .verified(nil))
            #expect(try tool.plan(["--first-frame"]).mode == .converted(nil))
            #expect(try tool.plan(["--format", "original"]).mode == .untouched)
        }
    }

    @Test(
        arguments: Tool.allCases,
        ["640", "640x", "x480", "640*480", "640x480x1", "0x480", "640x-1", "+6x4", " 6x4", "1e3x4", ""])
    func invalidSizeOptionsAreRejected(tool: Tool, text: String) {
        #expect(tool.message("--fit", text) == "The value '\(text)' is invalid for '--fit <WxH>'")
    }

    @Test(arguments: Tool.allCases) func conflictingOptionsAreNamed(tool: Tool) {
        #expect(tool.message("--fit", "9x9", "--fill", "9x9") == "--fit and --fill cannot be combined.")
        #expect(
            tool.message("--max-pixel-size", "9", "--fill", "9x9") == "--max-pixel-size and --fill cannot be combined.")
        #expect(tool.message("--max-pixel-size", "0") == "--max-pixel-size must be at least 1.")
        #expect(
            tool.message("--filter", "box")
                == "--filter applies to shrinking: add --max-pixel-size, --fit, --fill, or --resize-mode.")
        #expect(
            tool.message("--fit", "9x9", "--filter", "sharp").hasPrefix("The value 'sharp' is invalid for '--filter"))
    }

    /// WebP and animations have no place for one.
    @Test func grayscaleProfileIsKeptOnlyWhereItCanBeStored() throws {
        var header = ImageHeader(format: .png, size: PixelSize(width: 65, height: 65))
        header.isGray = true
        for (format, keepsProfile) in [("png", true), ("jpeg", true), ("webp", false)] {
            let plan = try Tool.get.plan(["--keep-profile", "--format", format])
            #expect(plan.options(for: header).keepsProfile == keepsProfile, "\(format)")
        }
        header.frameCount = 2
        #expect(try !Tool.get.plan(["--keep-profile", "--format", "png"]).options(for: header).keepsProfile)
        header.isGray = false
        #expect(try Tool.get.plan(["--keep-profile", "--format", "webp"]).options(for: header).keepsProfile)
    }

    @Test(arguments: Tool.allCases) func resizeModeSelectsTheRule(tool: Tool) throws {
        #expect(try tool.plan(["--resize-mode", "no"]) == tool.plan([]))
        let plan = try tool.plan(["--resize-mode", "keep_ratio", "--image-size", "64", "--filter", "box"])
        #expect(plan.resizing == ResizeRule(mode: .keepRatio, side: 64, leavesSmallerImages: false))
        #expect(plan.mode == .converted(tool == .get ? nil : .jpeg))
        let header = ImageHeader(format: .png, size: PixelSize(width: 65, height: 65))
        #expect(plan.options(for: header) == plan.options)
        #expect(plan.options == DecodeOptions(target: .shorterSide(64), resampling: Resampling(filter: .box)))
        let other = try tool.plan(["--resize-mode", "border", "--image-size", "9", "--resize-only-if-bigger"])
        #expect(other.resizing == ResizeRule(mode: .border, side: 9, leavesSmallerImages: true))
    }

    @Test(arguments: Tool.allCases) func resizeModeWithoutItsSizeOrWithAnotherIsRejected(tool: Tool) {
        for mode in ["no", "border"] {
            #expect(
                tool.message("--fit", "9x9", "--resize-mode", mode, "--image-size", "9").hasSuffix(
                    mode == "no"
                        ? "--image-size requires --resize-mode with a mode other than no."
                        : "--fit and --resize-mode cannot be combined."))
        }
        #expect(
            tool.message("--max-pixel-size", "9", "--resize-mode", "no")
                == "--max-pixel-size and --resize-mode cannot be combined.")
        #expect(tool.message("--resize-mode", "border") == "--resize-mode border requires --image-size.")
        #expect(
            tool.message("--resize-mode", "center_crop", "--image-size", "0")
                == "--image-size must be from 1 to 65535.")
        #expect(
            tool.message("--resize-only-if-bigger")
                == "--resize-only-if-bigger requires --resize-mode with a mode other than no.")
        #expect(
            tool.message("--format", "original", "--resize-mode", "border", "--image-size", "9")
                == "--format original writes what was downloaded; --resize-mode cannot change it.")
        #expect(tool.message("--resize-mode", "fixed").hasPrefix("The value 'fixed' is invalid for '--resize-mode"))
    }

    @Test(arguments: Tool.allCases) func formatOriginalRejectsImageOptions(tool: Tool) {
        for option in [["--fill", "9x9"], ["--keep-profile"], ["--first-frame"], ["--filter", "box"]] {
            let arguments = ["--format", "original"] + option
            #expect(throws: (any Error).self) { try tool.plan(arguments) }
        }
        #expect(
            tool.message("--format", "original", "--fill", "9x9")
                == "--format original writes what was downloaded; --fill cannot change it.")
    }

    @Test(arguments: Tool.allCases) func keepProfileIsAcceptedIfTheFormatAllowsIt(tool: Tool) throws {
        let plan = try tool.plan(["--keep-profile"])
        #expect(plan.options.keepsProfile && plan.mode == .verified(nil))
        for format in ["gif", "npy"] {
            #expect(
                tool.message("--keep-profile", "--format", format)
                    == "\(format.uppercased()) files cannot contain profiles: --keep-profile applies to other formats.")
        }
    }

    @Test(arguments: Tool.allCases) func addedColorsNeedImagesInSRGB(tool: Tool) {
        for change in [["--grayscale"], ["--background", "white"]] {
            #expect(
                tool.message(["--format", "png", "--keep-profile"] + change)
                    == "--keep-profile cannot be combined with --grayscale, --overlay, or --background: their colors "
                    + "are sRGB.")
        }
    }

    @Test(arguments: Tool.allCases) func sizesOfFilesApplyToEncodedImages(tool: Tool) {
        for format in ["npy", "original"] {
            #expect(
                tool.message("--format", format, "--max-output-bytes", "50K")
                    == "--max-output-bytes applies to images that are encoded, not with --format \(format).")
        }
        #expect(
            tool.message("--max-pixel-size", "9", "--skip-reencode", "--max-output-bytes", "50K")
                == "--max-output-bytes applies to images that are encoded, not with --skip-reencode.")
        #expect(tool.message("--max-output-bytes", "50K").isEmpty)
    }

    @Test(arguments: Tool.allCases) func aQualityWithoutEffectIsRejected(tool: Tool) {
        for format in ["png", "gif", "npy", "original"] {
            #expect(
                tool.message("--format", format, "--quality", "50")
                    == "--quality applies to JPEG, WebP, AVIF, and JPEG XL, not to --format \(format).")
        }
        #expect(
            tool.message("--quality", "50")
                == "--quality applies to converted images: add --format jpeg, --max-pixel-size, --fit, or --fill.")
        #expect(tool.message("--format", "jpeg", "--quality", "0") == "--quality must be from 1 to 100.")
    }
}
