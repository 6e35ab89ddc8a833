import ArgumentParser
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch`, and lists whose columns do not fit its options.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(2))
)
struct BatchColumnTests {
    private func run(_ list: String, _ format: String, _ options: [String]) async throws -> Command.Result {
        try await Command.run(
            ["batch", "--input", "-", "--input-format", format, "--output", "-"] + options, input: list)
    }

    @Test(arguments: [
        (["--verify-hash", "sha256=chekcsum"], "no column chekcsum: see --verify-hash"),
        (["--verify-hash", "sha256"], "no column sha256: see --verify-hash"),
        (["--id-col", "number"], "no column number: see --id-col"),
        (["--caption-col", "text"], "no column text: see --caption-col"),
    ])
    func columnThatAnOptionNamesMustExist(options: [String], reason: String) async throws {
        let result = try await run("url,checksum\nx,00\n", "csv", options)
        #expect(result.status == 64)
        #expect(result.errors.contains(reason), "\(result.errors)")
    }

    @Test(arguments: [
        (["--url-col", "link"], "no column link: see --url-col"),
        (["--id-col", "number"], "no column number: see --id-col"),
        (["--caption-col", "text"], "no column text: see --caption-col"),
        (["--verify-hash", "sha256"], "no column sha256: see --verify-hash"),
    ])
    func optionsCannotNameColumnsOfAListWithoutThem(options: [String], reason: String) async throws {
        for format in [["--input-format", "lines"], []] {
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-"] + format + options, input: "http://a/\n")
            #expect(result.status == 64)
            #expect(result.errors.contains(reason), "\(result.errors)")
        }
    }

    @Test func columnsWithDefaultNamesAreOptional() async throws {
        let result = try await run("url\nx\n", "csv", ["--line-options"])
        #expect(result.status == 0)
        #expect(try BatchFrames(result.outputBytes).frames.map(\.code) == ["invalid_url"])
    }

    @Test func digestThatIsNoTextMakesABadLine() async throws {
        let lines = [#"{"url":"x","sum":1}"#, #"{"url":"x","sum":null}"#, #"{"url":"x"}"#]
        let result = try await run(
            lines.joined(separator: "\n"), "ndjson", ["--verify-hash", "sha256=sum", "--ordered"])
        #expect(result.status == 0)
        let codes = try BatchFrames(result.outputBytes).frames.map(\.code)
        #expect(codes == ["bad_line", "invalid_url", "invalid_url"])
    }

    @Test(arguments: ["url", "id", "text"])
    func digestHasAColumnOfItsOwn(column: String) throws {
        let arguments = ["--input", "-", "--output", "-", "--caption-col", "text", "--verify-hash", "sha256=\(column)"]
        do {
            _ = try BatchCommand.parse(arguments)
            Issue.record("accepted")
        } catch {
            #expect(BatchCommand.message(for: error).contains("--verify-hash cannot use the column"))
        }
    }
}
