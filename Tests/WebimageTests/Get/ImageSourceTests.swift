import AsyncWebImage
import Testing

@testable import webimage

struct ImageSourceTests {
    @Test(arguments: [
        ("https://example.com/a.jpg", ImageSource.Location.url("https://example.com/a.jpg")),
        ("HTTP://example.com", .url("HTTP://example.com")),
        ("data:image/png;base64,AAAA", .url("data:image/png;base64,AAAA")),
        ("a.jpg", .file(path: "a.jpg")),
        ("/tmp/50%25.jpg", .file(path: "/tmp/50%25.jpg")),
        ("file:///tmp/a%20b.jpg", .file(path: "/tmp/a b.jpg")),
        ("file://localhost/tmp/a.jpg", .file(path: "/tmp/a.jpg")),
        ("file:///tmp/a%00b.jpg", .invalid(reason: "a path cannot contain a null character")),
        ("file://elsewhere/tmp/a.jpg", .invalid(reason: "a file URL names a file of this machine: file:///path")),
        ("FILE://", .invalid(reason: "a file URL names a file of this machine: file:///path")),
    ])
    func argumentsAreURLsOrPaths(argument: String, place: ImageSource.Location) {
        #expect(ImageSource(argument: argument).location == place)
    }

    @Test(arguments: ["a.jpg", "/etc/hostname", "file:///etc/hostname"])
    func listLinesAreAlwaysURLs(line: String) {
        #expect(ImageSource(listed: line).location == .url(line))
    }

    @Test func displayedURLHasNoPassword() {
        let url = "http://me:secret@example.com/a@2x.jpg"
        for source in [ImageSource(argument: url), ImageSource(listed: url)] {
            #expect(source.text == "http://example.com/a@2x.jpg")
            #expect(source.location == .url(url))
        }
        let unusable = ImageSource(unusable: "http://me:secret@exam", reason: "too long")
        #expect(unusable.text == "http://exam")
        #expect(ImageSource(argument: "file://me:secret@host/a.jpg").text == "file://host/a.jpg")
        #expect(ImageSource(argument: "file:///me@home/a.jpg").text == "file:///me@home/a.jpg")
        #expect(ImageSource(argument: "me@home/a.jpg").text == "me@home/a.jpg")
    }

    @Test(
        arguments: [
            (nil, nil, false, OutputPlan.Mode.verified(nil)),
            (nil, 100, false, .converted(nil)),
            (nil, nil, true, .converted(nil)),
            (.original, nil, false, .untouched),
            (.webp, 100, false, .converted(.webp)),
        ] as [(OutputFormat?, Int?, Bool, OutputPlan.Mode)])
    func optionsSelectTheOutputMode(format: OutputFormat?, side: Int?, ignoresOrientation: Bool, mode: OutputPlan.Mode)
    {
        let options = DecodeOptions(
            target: side.map { .maximumSide($0) } ?? .original, ignoresOrientation: ignoresOrientation)
        let plan = OutputPlan(format: format, options: options, quality: 85)
        #expect(plan.mode == mode)
        #expect(plan.holdsFullSize == (side == nil && mode == .converted(nil)))
    }
}
