import ArgumentParser
import AsyncWebImage
import Foundation
import ImageEncoders
import ImageProcessing
import TestSupport
import Testing

@testable import webimage

struct TransformationOptionsTests {
    private func identifiers(_ arguments: String...) throws -> [String] {
        try TransformationOptions.parse(arguments).transformations.map(\.identifier)
    }

    @Test func changesAreMadeInAFixedOrder() throws {
        let expected = [
            "trim(10)", "crop(16:9@0.5,0.0)", "rotate(90)", "flip(vertical)", "saturation(0.0)", "blur(3.0)",
            "sharpen(1.5,1.0)", "rounded(8.0)", "flatten(#ff8000)",
        ]
        #expect(
            try identifiers(
                "--background", "ff8000", "--rounded", "8", "--sharpen", "1.5", "--blur", "3", "--grayscale", "--flip",
                "vertical", "--rotate", "90", "--gravity", "top", "--crop", "16:9", "--trim") == expected)
        #expect(try identifiers().isEmpty)
    }

    @Test(arguments: [
        (["--crop", "300x200+10+20"], "crop(300x200+10+20)"), (["--crop", "1:2"], "crop(1:2@0.5,0.5)"),
        (["--crop", "1:1", "--gravity", "smart"], "smartCrop(1:1)"),
        (["--crop", "1:1", "--gravity", "0.25,1"], "crop(1:1@0.25,1.0)"),
        (["--crop", "1:1", "--gravity", "bottomright"], "crop(1:1@1.0,1.0)"), (["--rounded", "circle"], "circle()"),
        (["--background", "#00ff7F"], "flatten(#00ff7f)"), (["--background", "white"], "flatten(#ffffff)"),
    ])
    func valuesAreUnderstood(arguments: [String], identifier: String) throws {
        #expect(try TransformationOptions.parse(arguments).transformations.map(\.identifier) == [identifier])
    }

    @Test(arguments: [
        ["--crop", "300x200"], ["--crop", "0:1"], ["--crop", "10x10+-1+0"], ["--crop", "1:1", "--gravity", "2,0"],
        ["--gravity", "top"], ["--crop", "9x9+0+0", "--gravity", "smart"], ["--rotate", "45"], ["--flip", "both"],
        ["--blur", "10000"], ["--blur", "nan"], ["--sharpen", "-1"], ["--rounded", "-1"], ["--background", "ff80"],
        ["--background", "gggggg"], ["--overlay", "/nothing/there.png"],
    ])
    func otherValuesAreRefused(arguments: [String]) {
        #expect(throws: (any Error).self) { try TransformationOptions.parse(arguments) }
    }

    @Test func overlayIsReadFromItsFile() throws {
        try withTemporaryFolder { folder in
            let mark = PixelBuffer(transparent: PixelSize(width: 5, height: 3))
            try Data(mark.encoded(as: .png)).write(to: URL(fileURLWithPath: folder + "/mark.png"))
            let options = try TransformationOptions.parse(["--overlay", folder + "/mark.png", "--gravity", "topleft"])
            #expect(options.transformations == [.overlay(mark, at: .topLeft)])
        }
    }

    /// Without what a source of `webimage get` could be instead.
    @Test(arguments: [
        ("", "a folder"), ("/nowhere.png", "cannot read the file: No such file or directory"),
        ("/list.txt", "not an image: it looks like plain text"), ("/pipe", "not a regular file"),
        ("/half.png", "the PNG file ends before its image is complete"),
    ])
    func overlayThatCannotBeReadIsToldWithAReasonAndARemedy(name: String, reason: String) throws {
        try withTemporaryFolder { folder in
            let mark = try PixelBuffer(transparent: PixelSize(width: 5, height: 3)).encoded(as: .png)
            try Data(mark.prefix(mark.count / 2)).write(to: URL(fileURLWithPath: folder + "/half.png"))
            try Data("http://example.com/mark.png\n".utf8).write(to: URL(fileURLWithPath: folder + "/list.txt"))
            #expect(mkfifo(folder + "/pipe", 0o600) == 0)
            let error = #expect(throws: (any Error).self) {
                try TransformationOptions.parse(["--overlay", folder + name])
            }
            #expect(
                TransformationOptions.message(for: try #require(error))
                    == "The value '\(folder)\(name)' is invalid for '--overlay <file>': \(reason). Pass the path of "
                    + "another image file.")
        }
    }
}
