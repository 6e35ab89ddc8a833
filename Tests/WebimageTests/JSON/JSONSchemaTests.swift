import AsyncWebImage
import ImageCodecs
import Foundation
import ImageEncoders
import ImageTestSupport
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The JSON of the built command satisfies the schemas in Docs/Schemas, and every member of them occurs.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(4))
)
struct JSONSchemaTests {
    typealias Response = LoopbackOrigin.Response

    private let batch = ["batch", "--input", "-", "--retries", "0"]
    /// The options for the optional members of records, except for the digest.
    private let columns = [
        "--caption-col", "text", "--format", "webp", "--exif", "--compute-phash", "--compute-thumbhash",
    ]

    /// Runs `body` with an origin of images and failures, and a folder.
    private func withOrigin(_ body: (LoopbackOrigin, _ folder: String) async throws -> Void) async throws {
        let photograph = try #require(testPhotograph)
        let gainMap = TestGainMap.described(try TestImage.gray(16, 12).encoded(as: .jpeg))
        let metadata = ImageMetadata(
            colorProfile: TestProfile.bytes("RGB "), exif: TestExif.photo, gainMap: gainMap)
        let photo = try photograph.encoded(with: try EncodeOptions(.jpeg), metadata: metadata)
        let plain = try photograph.encoded(as: .jpeg)
        let png = try photograph.encoded(as: .png)
        let animated = try animation(of: try TestImages.wanderingSquare(3), as: .png)
        try await withLoopbackOrigin { origin in
            origin.route(
                "/photo.jpg",
                Response(
                    headerFields: [
                        "Cache-Control": "max-age=86400", "Content-Type": "image/jpeg", "ETag": "\"e\"",
                        "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
                    ], body: photo))
            origin.route("/moved", .redirect(to: origin.url("/photo.jpg")))
            origin.route("/endless.png", Response(body: Array(png.dropLast(12))))
            origin.route("/animation.png", Response(body: animated))
            origin.route("/partial.jpg", Response(body: plain).cut(at: .body(plain.count / 2)))
            origin.route("/busy", Response(status: 503))
            try await withTemporaryFolder { folder in
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try await body(origin, folder)
            }
        }
    }

    /// Returns a list with a line for each outcome, and with a column `n`.
    private func list(_ origin: LoopbackOrigin) -> String {
        let paths = ["/photo.jpg", "/moved", "/endless.png", "/animation.png", "/busy", "/missing"]
        let lines = paths.map { #"{"url":"\#(origin.url($0))","text":"t","n":1}"# }
        return (lines + ["{"]).joined(separator: "\n")
    }

    @Test func linesOfGetSatisfyTheirSchema() async throws {
        try await withOrigin { origin, folder in
            var output = try DocumentedOutput("get")
            let arguments = [
                "get", "--json", "--allow-partial", "--retries", "0", "-o", folder + "/out", "--cache",
                folder + "/cache",
            ]
            let paths = ["/photo.jpg", "/endless.png", "/animation.png", "/partial.jpg", "/missing"]
            let urls = paths.map { origin.url($0) }
            let first = try await Command.run(arguments + urls + ["\(folder)/none.jpg"])
            try output.validate(first.output)
            for value in [#""status":"ok""#, #""status":"partial""#, #""status":"failed""#, #"["missing_end"]"#] {
                #expect(first.output.contains(value))
            }
            let cached = try await Command.run(arguments + [origin.url("/photo.jpg")])
            try output.validate(cached.output)
            #expect(cached.output.contains(#""http_status":200,"#) && cached.output.contains(#""source":"disk","#))
            let file = try await Command.run(arguments + [folder + "/out/photo.jpg"])
            try output.validate(file.output)
            #expect(file.output.contains(#""http_status":null,"#) && file.output.contains(#""source":"file","#))
            // In the command, a preview fails only if the disk does.
            var outcome = Outcome(url: "a")
            outcome.previewError = "no"
            try output.validate(outcome.json)
            #expect(output.differences() == [])
        }
    }

    @Test func linesOfInfoSatisfyTheirSchema() async throws {
        try await withOrigin { origin, folder in
            var output = try DocumentedOutput("info")
            let urls = ["/photo.jpg", "/animation.png", "/missing"].map { origin.url($0) }
            try output.validate(try await Command.run(["info", "--json", "\(folder)/none.jpg"] + urls).output)
            #expect(output.differences() == [])
        }
    }

    @Test func recordsSatisfyTheirSchema() async throws {
        try await withOrigin { origin, folder in
            var records = try DocumentedOutput("batch-record")
            let stream = batch + columns + ["--output", "-"]
            for digest in ["sha256", "md5", "sha512"] {
                let options = [
                    "--stream", "ndjson", "--payload", "base64", "--echo", "--compute-hash", digest, "--cache",
                    folder + "/cache",
                ]
                let result = try await Command.run(stream + options, input: list(origin))
                #expect(result.status == 0, "\(result.errors)")
                try records.validate(result.output)
                #expect(digest == "sha256" || result.output.contains(#""source":"disk""#))
            }
            let options = ["--stream", "tar", "--log", folder + "/log"]
            let archive = try await Command.run(stream + options, input: list(origin))
            #expect(archive.status == 0, "\(archive.errors)")
            try records.validate(file: folder + "/log")
            #expect(records.differences(besides: ["n"]) == [])
        }
    }

    @Test func streamOfFramesSatisfiesItsSchemas() async throws {
        try await withOrigin { origin, folder in
            let summary = folder + "/summary.json"
            // Without images, all of it are lines.
            let options = ["--output", "-", "--header-only", "--summary", summary]
            let result = try await Command.run(batch + options, input: list(origin))
            var lines = result.output.split(separator: "\n").map { String($0) }
            try #require(result.status == 0 && lines.count == 9, "\(result.errors)")
            var (start, end) = (try DocumentedOutput("batch-start"), try DocumentedOutput("batch-end"))
            try start.validate(lines.removeFirst())
            try end.validate(lines.removeLast())
            #expect(start.differences() == [] && end.differences() == [])
            var (records, counts) = (try DocumentedOutput("batch-record"), try DocumentedOutput("batch-summary"))
            try records.validate(lines.joined(separator: "\n"))
            try counts.validate(file: summary)
        }
    }

    @Test func filesOfAFolderSatisfyTheirSchemas() async throws {
        try await withOrigin { origin, folder in
            var (records, samples) = (try DocumentedOutput("batch-record"), try DocumentedOutput("batch-sample"))
            var (markers, summaries) = (try DocumentedOutput("batch-marker"), try DocumentedOutput("batch-summary"))
            var (runs, lists) = (try DocumentedOutput("batch-run"), try DocumentedOutput("batch-list"))
            for (digest, form) in [
                ("sha256", "webdataset"), ("sha256", "files"), ("md5", "files"), ("sha512", "files"),
            ] {
                let (output, summary) = ("\(folder)/\(digest)-\(form)", folder + "/summary.json")
                var options = [
                    "--output", output, "--output-format", form, "--compute-hash", digest, "--summary", summary,
                ]
                if digest == "md5" { options += ["--post-shard", "true"] }
                // The second run finds the results of the first one, and the third one adds another list.
                for (first, run): (String, [String]) in [("", []), ("", []), ("{\n", ["--extend"])] {
                    let result = try await Command.run(batch + columns + options + run, input: first + list(origin))
                    #expect(result.status == 0, "\(result.errors)")
                    try summaries.validate(file: summary)
                }
                try runs.validate(file: output + "/run.json")
                try lists.validate(file: output + "/00001_list.json")
                try records.validate(file: output + "/00000.jsonl")
                try markers.validate(file: output + "/00000_stats.json")
                guard form == "files" else { continue }
                for name in try FileManager.default.contentsOfDirectory(atPath: output + "/00000")
                where name.hasSuffix(".json") {
                    try samples.validate(file: "\(output)/00000/\(name)")
                }
            }
            #expect(samples.differences(besides: ["n"]) == [] && lists.differences() == [])
            #expect(markers.differences() == [] && summaries.differences() == [])
        }
    }

    @Test func descriptionsOfRunsSatisfyTheirSchema() async throws {
        var output = try DocumentedOutput("batch-run")
        let runs = [
            """
            --fit 32x32 --filter mitchell --format webp --quality 80 --first-frame --keep-profile --strict --unsorted \
            --exif --compute-phash --compute-thumbhash --verify-hash sha256 --caption-col text --line-options \
            --min-image-size 1 --max-image-area 1000000 --max-aspect-ratio 9 --max-work 1000000000 --robots-txt \
            --part 0/2 --part-by host --spread-host example.com
            """,
            "--fill 32x32 --skip-reencode", "--max-pixel-size 32 --max-output-bytes 50K --grayscale", "--header-only",
            "--resize-mode border --image-size 32 --resize-only-if-bigger",
        ]
        for run in runs {
            try await withTemporaryFolder { folder in
                let options = run.split(separator: " ").map { String($0) }
                let result = try await Command.run(
                    batch + ["--output", "\(folder)/out"] + options, input: #"{"url":"x"}"#)
                #expect(result.status == 0, "\(result.errors)")
                try output.validate(file: folder + "/out/run.json")
            }
        }
        #expect(output.differences() == [])
    }

    @Test func linesOfProgressSatisfyTheirSchema() async throws {
        try await withOrigin { origin, _ in
            let gate = Gate()
            origin.route("/held", Response(status: 404).held(at: .start, until: gate))
            let result = try await Command.run(
                batch + ["--output", "-", "--stats-interval", "0.05"], input: "x\n\(origin.url("/held"))\n"
            ) { command in
                await origin.requests(to: "/held", reach: 1)
                _ = await command.ends(within: .seconds(2))
                gate.open()
            }
            var output = try DocumentedOutput("batch-progress")
            try output.validate(result.errors)
            #expect(output.differences() == [])
        }
    }

    @Test func outputsOfCacheSatisfyTheirSchemas() async throws {
        try await withOrigin { origin, folder in
            let cache = folder + "/cache"
            let urls = ["/photo.jpg", "/endless.png"].map { origin.url($0) }
            let result = try await Command.run(["get", "-o", "\(folder)/out", "--cache", cache] + urls)
            #expect(result.status == 0, "\(result.errors)")
            for name in ["info", "list"] {
                var output = try DocumentedOutput("cache-\(name)")
                try output.validate(try await Command.run(["cache", name, "--json", cache]).output)
                #expect(output.differences() == [], "\(name)")
            }
        }
    }

    @Test(arguments: [#"{"type":"text"}"#, #"{"minimum":1}"#, #"{"items":{"pattern":"x"}}"#, #"{"required":1}"#, "1"])
    func schemasWithOtherKeywordsOrTypesAreErrors(schema: String) throws {
        let schema = try JSONValue(text: schema)
        #expect(throws: JSONSchema.Violation.self) { try JSONSchema(schema) }
    }

    @Test(arguments: [
        (#"{"type":"integer"}"#, "true"), (#"{"type":"boolean"}"#, "1"), (#"{"type":"integer"}"#, "1.5"),
        (#"{"type":["string","null"]}"#, "0"), (#"{"enum":[1,null]}"#, "true"), (#"{"const":true}"#, "1"),
        (#"{"required":["a"]}"#, "{}"), (#"{"properties":{"a":{"type":"null"}}}"#, #"{"a":1}"#),
        (#"{"additionalProperties":{"type":"number"}}"#, #"{"a":"1"}"#), (#"{"items":{"const":1}}"#, "[1,2]"),
    ])
    func valuesThatViolateASchemaAreErrors(schema: String, value: String) throws {
        let (schema, value) = (try JSONSchema(try JSONValue(text: schema)), try JSONValue(text: value))
        #expect(throws: JSONSchema.Violation.self) { try schema.validate(value) }
    }

    @Test func occurringMembersAreThoseThatAreNotNull() throws {
        let schema = try JSONSchema(
            try JSONValue(
                text: #"{"properties":{"a":{},"b":{"type":"null"},"c":{"additionalProperties":{"type":"number"}}}}"#))
        #expect(schema.paths == ["a", "c", "c.*"])
        let value = try JSONValue(text: #"{"a":null,"b":null,"c":{"x":1,"y":1.5},"d":true}"#)
        #expect(try schema.validate(value) == ["c", "c.*", "d"])
    }
}
