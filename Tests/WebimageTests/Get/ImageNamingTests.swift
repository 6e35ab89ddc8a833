import Testing

@testable import webimage

struct ImageNamingTests {
    @Test(arguments: [
        ("{index:05}-{name}", "00012-photo"), ("{name}", "photo"), ("a{index}b", "a12b"), ("plain", "plain"),
        ("{index:1}{index:2}{index:3}", "1212012"),
    ])
    func templateInsertsIndexAndName(template: String, text: String) throws {
        #expect(try #require(NameTemplate(template)).text(index: 12, name: "photo") == text)
    }

    @Test(arguments: [
        "", "a/{name}", "{index:+5}", "{", "}", "{x}", "{index:}", "{index:0}", "{index:99}", "{name", "a}b", "{}",
        "{{name}}",
    ])
    func otherFieldsAreNoTemplate(template: String) {
        #expect(NameTemplate(template) == nil)
    }

    @Test func namesOfTemplatesAreSafe() {
        let naming = ImageNaming(template: NameTemplate("..:{name}"))
        let name = naming.name(of: ImageSource(argument: "https://example.com/a.jpg"), head: nil, suffix: "png")
        #expect(name.numbered(1) == "_a.png")
    }

    @Test func longNamesAreCutAndNotTheOtherPartsOfTheTemplate() {
        let naming = ImageNaming(template: NameTemplate("{name}-{index:03}"))
        let url = "https://example.com/\(String(repeating: "x", count: 250)).jpg"
        let name = naming.name(of: ImageSource(argument: url), head: nil, suffix: "png").numbered(1)
        #expect(name.hasSuffix("xxx-001.png") && name.utf8.count <= 200)
    }

    @Test(arguments: [
        (#"attachment; filename="a b.jpg""#, "a b.jpg"), ("inline; FileName=x.png", "x.png"),
        (#"attachment; filename="q\"uote;.jpg"; size=3"#, "q\"uote;.jpg"),
        ("attachment; filename=old.jpg; filename*=UTF-8''na%C3%AFve.jpg", "naïve.jpg"),
        ("attachment; filename*=ISO-8859-1''x.jpg; filename=y.jpg", "y.jpg"),
        ("attachment; filename*=UTF-8''%FF%FE.jpg; filename=y.jpg", "y.jpg"),
        ("attachment; filename*=UTF-8''; filename=y.jpg", "y.jpg"),
        (#"attachment; filename="C:\dir\y.jpg""#, #"C:\dir\y.jpg"#),
    ])
    func contentDispositionNamesTheFile(value: String, name: String) {
        #expect(ContentDisposition.fileName(in: value) == name)
    }

    @Test(arguments: ["", "inline", "attachment; filename=\"\"", "filename=a.jpg", "attachment; =a"])
    func otherValuesNameNoFile(value: String) {
        #expect(ContentDisposition.fileName(in: value) == nil)
    }
}
