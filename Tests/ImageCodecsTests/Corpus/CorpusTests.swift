import Testing

@testable import ImageCodecs

/// The folder itself: without its tables or files, the other suites would look at nothing.
struct CorpusTests {
    @Test(.enabled(if: Corpus.isAvailable, "set WEBIMAGE_CORPUS"))
    func corpusContainsEveryFileOfTheManifest() throws {
        let files = try Corpus.files()
        #expect(Set(files.map(\.path)).count == files.count)
        for format in [ImageFormat.jpeg, .png, .webp, .gif] {
            #expect(files.contains { $0.isValid && $0.format == format }, "no valid \(format)")
        }
        for file in files { #expect(try !file.bytes().isEmpty || !file.isValid, "\(file.path)") }
    }

    @Test func corpusTableIsReadByItsColumnNames() {
        #expect(
            Corpus.rows(of: "path\tclass\na.gif\tvalid\nb.gif\t\n") == [
                ["path": "a.gif", "class": "valid"], ["path": "b.gif", "class": ""],
            ])
        #expect(Corpus.rows(of: "path\tclass\n").isEmpty && Corpus.rows(of: "").isEmpty)
    }
}
