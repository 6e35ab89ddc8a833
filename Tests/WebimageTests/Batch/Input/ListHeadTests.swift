import Foundation
import ImageEncoders
import TestSupport
import Testing

@testable import webimage

/// The built commands with a list in the wrong format.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct ListHeadTests {
    /// A file that is taken for a list, and what a message about it contains.
    struct Wrong: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let message: String
        var options: [String] = []

        init(_ name: String, _ text: String, _ message: String) { self.init(name, Array(text.utf8), message) }

        init(_ name: String, _ bytes: [UInt8], _ message: String) {
            (self.name, self.bytes, self.message) = (name, bytes, message)
        }

        var testDescription: String { "\(name): \(message)" }
    }

    private static let binary: [Wrong] = [
        Wrong("list.parquet", Array("PAR1".utf8) + [21, 4, 0, 0], "webimage-batch download --input_format parquet"),
        Wrong("list.txt", Array("PAR1".utf8) + [UInt8](repeating: 7, count: 100), "is a Parquet file"),
        Wrong("list.csv", Array("PAR1".utf8) + [21, 4, 0, 0], "is a Parquet file"),
        Wrong("list.txt", Array("http://a/b\0c\n".utf8), "its byte 10 is NUL"),
        Wrong("list.jsonl", Array("{\"url\":\"http://a/\"}\n\0".utf8), "is NUL"),
        Wrong("list.txt", [0xFF, 0xFE] + Array("http://a/".utf16).flatMap { [UInt8($0), 0] }, "UTF-16"),
        Wrong("list.csv", Array("url,b\n".utf16).flatMap { [UInt8($0), 0] }, "UTF-16"),
        Wrong("list.txt", "http://a/1\rhttp://a/2\r", "end with CR alone"),
        Wrong("list.txt", Array("PK".utf8) + [3, 4, 20, 0], "a spreadsheet"),
        Wrong("list.txt", [0x28, 0xB5, 0x2F, 0xFD, 1, 2, 3], "zstd -dc"),
        Wrong("list.txt", "<!DOCTYPE html><p>Not found", "HTML, not a list"),
        Wrong("photo.webp", Array("RIFF".utf8) + [1, 1, 1, 1] + Array("WEBPVP8 ".utf8), "an image (webp), not a list"),
        Wrong("photo.gif", Array("GIF89a".utf8) + [1, 1, 1, 1, 1], "an image (gif), not a list"),
        Wrong(
            "photo.bmp", Array("BM".utf8) + [9, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0],
            "an image (bmp), not a list"),
        Wrong("photo.avif", [0, 0, 0, 32] + Array("ftypavif".utf8), "an image (AVIF), not a list"),
    ]

    private static let empty: [Wrong] = ["", "\n", " \r\n\n", "# one\n\n#two", "\u{FEFF}"].map {
        Wrong("list.txt", $0, "is an empty list")
    }

    private static let others: [Wrong] = [
        Wrong("list.txt", "url,caption\nhttp://a/,b\n", "use --input-format csv"),
        Wrong("list.txt", "\n# x\nname,picture\nb,http://a/\n", "use --input-format csv"),
        Wrong("list", "\"URL\"\thash\nhttp://a/\tb\n", "use --input-format tsv"),
        Wrong("list.txt", "url\nhttp://a/\n", "use --input-format csv"),
        Wrong("list.txt", "url;caption\nhttp://a/;b\n", "whose separator is ;"),
        Wrong("list.txt", "{\"url\":\"http://a/\"}\n", "use --input-format ndjson"),
        Wrong("list.json", "[{\"url\":\"http://a/\"}]", "jq -c '.[]'"),
        Wrong("list.jsonl", "[\n{\"url\":\"http://a/\"}\n]\n", "jq -c '.[]'"),
        Wrong("list.json", "[\n {\"url\":\"http://a/\"},\n {\"url\":\"http://b/\"}\n]\n", "jq -c '.[]'"),
        Wrong("list.jsonl", "{\"URL\":\"http://a/\",\"n\":1}\n", "have no member url; they have URL, n: see --url-col"),
        Wrong("list.jsonl", "{\"link\":\"http://a/\"}", "they have link"),
        Wrong("list.json", "{\n  \"url\": {\n    \"0\": \"http://a/\"\n  }\n}\n", "one per line"),
        Wrong("list.ndjson", "http://a/\nhttp://b/\n", "one per line"),
        Wrong("list.csv", "URL,n\nhttp://a/,1\n", "whose columns are URL, n, has no column url"),
        Wrong("list.csv", "url,n\n", "is an empty list"),
    ]

    private func run(
        _ wrong: Wrong, _ arguments: (_ list: String, _ folder: String) -> [String], isCompressed: Bool = false
    ) async throws {
        try await withTemporaryFolder { folder in
            let list = "\(folder)/\(wrong.name)"
            try Data(wrong.bytes).write(to: URL(fileURLWithPath: list))
            if isCompressed {
                _ = try await Command.run([], by: "gzip '\(list)' && mv '\(list).gz' '\(list)'")
            }
            let result = try await Command.run(arguments(list, "\(folder)/out"))
            #expect(result.status == 64, "\(result.errors)")
            #expect(result.output.isEmpty)
            #expect(result.errors.contains(wrong.message), "\(result.errors)")
            #expect(result.errors.contains(list), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/out"))
        }
    }

    @Test(arguments: binary + empty + others)
    func wrongListIsRefusedBeforeAnythingIsWritten(wrong: Wrong) async throws {
        try await run(wrong) { ["batch", "--input", $0, "--output", $1] }
        try await run(wrong) { list, _ in ["batch", "--input", list, "--output", "-"] }
    }

    @Test(arguments: [binary[0], binary[3], binary[10], empty[1], others[0], others[8]])
    func compressedListIsRefusedForTheSameReason(wrong: Wrong) async throws {
        try await run(wrong, { ["batch", "--input", $0, "--output", $1] }, isCompressed: true)
    }

    @Test(arguments: binary + empty)
    func wrongListOfGetIsRefused(wrong: Wrong) async throws {
        try await run(wrong) { ["get", "--input", $0, "-o", $1] }
    }

    @Test(arguments: [
        ("list.csv", "url,caption\nhttp://a/,b\n", "csv"), ("list.jsonl", "{\"url\":\"http://a/\"}\n", "ndjson"),
        ("list.txt", "url,caption\nhttp://a/,b\n", "csv"), ("list", "{\"url\":\"http://a/\"}\n", "ndjson"),
        ("list.tsv", "url\tb\n", "tsv"),
    ])
    func getTellsWhichCommandReadsAList(name: String, text: String, format: String) async throws {
        try await run(Wrong(name, text, "--input-format \(format)")) { ["get", "--input", $0, "-o", $1] }
    }

    @Test(arguments: [
        "a\n", "x,y\n", "not a URL, really\nhttp://a/\n", "http://a/,b\n", "é\n", "#\nu\n",
        "http://a/{}\n[]\n",
    ])
    func linesThatAreMerelyBadAreNoReasonToRefuseAList(text: String) async throws {
        let result = try await Command.run(
            ["batch", "--input", "-", "--output", "-", "--retries", "0", "--public-only", "--deadline", "1"],
            input: text)
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test func programMayHaveNoLines() async throws {
        let result = try await Command.run(["batch", "--input", "-", "--output", "-"], input: "")
        #expect(result.status == 0)
        let end = try BatchFrames(result.outputBytes).end
        #expect(end?["count"] as? Int == 0)
    }

    @Test func emptyStandardInputIsToldToAPerson() async throws {
        let result = try await Command.run(["get", "--input", "-", "-o", "/tmp/never"], input: "\n")
        #expect(result.status == 64)
        #expect(result.errors.contains("standard input is an empty list"))
    }
}
