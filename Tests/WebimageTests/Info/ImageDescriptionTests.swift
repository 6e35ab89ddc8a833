import AsyncWebImage
import Testing

@testable import webimage

struct ImageDescriptionTests {
    private var description: ImageDescription {
        var header = ImageHeader(format: .jpeg, size: PixelSize(width: 640, height: 480))
        header.orientation = .down
        header.isProgressive = true
        header.colorProfile = "Display \"P3\""
        header.colorConversion = .converted
        var description = ImageDescription(url: "a.jpg")
        description.header = header
        description.bytesRead = 4_096
        return description
    }

    @Test func descriptionLineListsNotableProperties() {
        #expect(
            description.line
                == #"a.jpg: jpeg, 640x480, orientation 3, progressive, opaque, profile Display "P3", "#
                + "colors converted to sRGB")
    }

    @Test func descriptionJSONAlwaysHasTheSameKeys() {
        #expect(
            description.json
                == #"{"url":"a.jpg","status":"ok","error":null,"error_code":null,"retryable":null,"format":"jpeg","width":640,"height":480,"frames":1,"#
                + #""loops":null,"duration_ms":null,"pages":1,"orientation":3,"upright_width":640,"#
                + #""upright_height":480,"progressive":true,"alpha":false,"bits_per_channel":8,"#
                + #""profile":"Display \"P3\"","color_conversion":"converted","gain_map":false,"warnings":null,"bytes_read":4096}"#
        )
        var failed = ImageDescription(url: "a.jpg")
        failed.failure = ImageFailure(.other, "no")
        #expect(
            failed.json.hasPrefix(
                #"{"url":"a.jpg","status":"failed","error":"no","error_code":"other","retryable":false,"format":null,"#)
        )
        #expect(failed.line == "webimage: a.jpg: no")
        // The header of a file that fails later.
        failed.header = description.header
        #expect(failed.line == "webimage: a.jpg: no")
    }

    @Test func pagesAreCounted() {
        var description = description
        description.header?.pageCount = 3
        #expect(description.json.contains(#""pages":3,"#))
        #expect(description.line.hasPrefix("a.jpg: jpeg, 640x480, the first of 3 pages, "))
    }

    @Test func orientationThatFollowsUnreadPixelsIsUnknown() {
        var description = description
        description.header?.orientation = .right
        #expect(description.json.contains(#""orientation":6,"upright_width":480,"upright_height":640"#))
        description.header?.hasTrailingOrientation = true
        #expect(description.json.contains(#""orientation":null,"upright_width":null,"upright_height":null"#))
        #expect(description.line.contains("unknown orientation"))
    }

    @Test(arguments: [(1_000, 0, "1 s, endless"), (1_200, 1, "1.2 s, once"), (65_050, 2, "65.05 s, 2 times")])
    func descriptionLineShowsDurationAndLoops(milliseconds: Int, repetitionCount: Int, text: String) {
        var description = description
        description.duration = .milliseconds(milliseconds)
        description.repetitionCount = repetitionCount
        #expect(description.line.contains("640x480, \(text), orientation"))
    }
}
