import Testing

@testable import webimage

struct FileNameTests {
    private func name(_ source: String, _ suffix: String = "jpg") -> String {
        FileName(source: source, suffix: suffix).numbered(1)
    }

    @Test(arguments: [
        ("https://example.com/photo.jpg", "photo.jpg"),
        ("https://example.com/a/b/photo.jpeg?size=1/2#top", "photo.jpeg"),
        ("https://example.com/photo.php", "photo.jpg"),
        ("https://example.com/photo.png", "photo.jpg"),
        ("https://example.com/photo", "photo.jpg"),
        ("https://example.com/v1.2", "v1.2.jpg"),
        ("https://example.com/", "image.jpg"),
        ("https://example.com", "image.jpg"),
        ("https://example.com/caf%C3%A9.png", "café.jpg"),
        ("https://example.com/%FF%FE.png", "%FF%FE.jpg"),
        ("https://example.com/50%", "50%.jpg"),
        ("folder/photo.png", "photo.jpg"),
    ])
    func fileNameIsTheLastPathComponent(source: String, expected: String) {
        #expect(name(source) == expected)
    }

    @Test func previewsAreNumbered() {
        let names = [1, 9, 10, 123].map { FileName.preview($0, source: "https://example.com/photo.jpg").numbered(1) }
        #expect(names == ["photo-01.png", "photo-09.png", "photo-10.png", "photo-123.png"])
    }

    @Test(arguments: [
        ("https://example.com/..%2f..%2fetc%2fpasswd", "_.._etc_passwd.jpg"),
        ("https://example.com/..", "image.jpg"),
        ("https://example.com/.bashrc", "bashrc.jpg"),
        ("https://example.com/--output=x.jpg", "output=x.jpg"),
        ("https://example.com/a%00b%0A%1B[31mc.jpg", "ab[31mc.jpg"),
        ("https://example.com/gpj%E2%80%AE.exe", "gpj.jpg"),
        ("https://example.com/a%5Cb%3Ac.jpg", "a_b_c.jpg"),
        ("https://example.com/%20%20.jpg", "image.jpg"),
        // A combining mark makes another Character of a dot, a dash or a slash, but not another byte.
        ("https://example.com/.%CC%81foo.jpg", "foo.jpg"),
        ("https://example.com/-%CC%81rf.jpg", "rf.jpg"),
        ("https://example.com/.%E2%83%9D-%CC%81.%CC%81x.jpg", "x.jpg"),
        ("https://example.com/%CC%81a.jpg", "a.jpg"),
        ("https://example.com/a/\u{301}b.jpg", "b.jpg"),
        ("https://example.com/a.jpg?\u{301}/b.png", "a.jpg"),
    ])
    func fileNamesAreSafe(source: String, expected: String) {
        #expect(name(source) == expected)
    }

    @Test(arguments: ["x", "é", "👩‍👩‍👧‍👦"])
    func fileNamesAreAtMost200Bytes(character: String) {
        let long = FileName(
            source: "https://example.com/" + String(repeating: character, count: 5_000) + ".jpeg", suffix: "webp")
        #expect(long.numbered(1_000_000_000).utf8.count <= 200)
        #expect(long.stem.utf8.count > 150)
    }

    @Test func duplicateFileNamesAreNumberedFromTwo() {
        let name = FileName(source: "https://example.com/a.jpg", suffix: "jpg")
        #expect([1, 2, 3].map(name.numbered) == ["a.jpg", "a-2.jpg", "a-3.jpg"])
    }
}
