import Foundation
import ImageCodecs
import ImageEncoders
import ImageTestSupport
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The destinations of `webimage get`: a file, standard output, and names in a folder.
@Suite(.timeLimit(.minutes(2)))
struct GetOutputTests {
    private static let png = (try? TestImages.drawing(width: 40, height: 30).encoded(as: .png)) ?? []

    /// Runs the command with `photo.png` in the folder that `DIR` means in `arguments`.
    private func run(
        _ arguments: [String], in folder: String, input: [UInt8] = []
    ) async throws -> Command.Result {
        try Data(Self.png).write(to: URL(fileURLWithPath: folder + "/photo.png"))
        let arguments = arguments.map { $0.replacing("DIR", with: folder) }
        return try await Command.run(["get"] + arguments, input: input)
    }

    private func bytes(_ path: String) throws -> [UInt8] { try ImageFile(path: path).bytes() }

    private func format(_ path: String) throws -> ImageFormat { try ImageFile(path: path).header().header.format }

    @Test func theExtensionOfTheFileChoosesItsFormat() async throws {
        try await withTemporaryFolder { folder in
            let result = try await run(
                ["-o", "DIR/new/small.webp", "--max-pixel-size", "3", "DIR/photo.png"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.hasPrefix("\(folder)/new/small.webp  3x") && result.output.contains("  webp  "))
            #expect(try format(folder + "/new/small.webp") == .webp)
        }
    }

    @Test func aFileOfTheSameFormatKeepsItsBytes() async throws {
        try await withTemporaryFolder { folder in
            let status1 = try await run(["-o", "DIR/copy.png", "DIR/photo.png"], in: folder).status
            #expect(status1 == 0)
            #expect(try bytes(folder + "/copy.png") == Self.png)
            let status2 = try await run(["-o", "DIR/copy.jpg", "DIR/photo.png"], in: folder).status
            #expect(status2 == 0)
            #expect(try format(folder + "/copy.jpg") == .jpeg)
        }
    }

    @Test func anExistingFileIsReplacedOnlyOnRequest() async throws {
        try await withTemporaryFolder { folder in
            let old = folder + "/old.png"
            _ = FileManager.default.createFile(atPath: old, contents: Data("old".utf8))
            let refused = try await run(["-o", "DIR/old.png", "DIR/photo.png"], in: folder)
            #expect(refused.status == 1 && refused.errors.contains("old.png exists already; --overwrite replaces it"))
            #expect(try bytes(old) == Array("old".utf8))
            let status3 = try await run(["-o", "DIR/old.png", "--overwrite", "DIR/photo.png"], in: folder).status
            #expect(status3 == 0)
            #expect(try bytes(old) == Self.png)
            let failed = try await run(["-o", "DIR/old.png", "--overwrite", "DIR/missing.png"], in: folder)
            #expect(failed.status == 1)
            #expect(try bytes(old) == Self.png)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["old.png", "photo.png"])
        }
    }

    @Test func anImageIsPipedThrough() async throws {
        try await withTemporaryFolder { folder in
            let result = try await run(["-o", "-", "--format", "webp", "--lossless", "-"], in: folder, input: Self.png)
            #expect(result.status == 0, "\(result.errors)")
            #expect(ImageFormat(signature: result.outputBytes.span) == .webp)
            #expect(result.errors.hasPrefix("standard output") || result.errors.contains("  webp  "))
            let unchanged = try await run(["-o", "-", "-"], in: folder, input: Self.png)
            #expect(unchanged.outputBytes == Self.png)
            let damaged = try await run(["-o", "-", "-"], in: folder, input: Array(Self.png.dropLast(200)))
            #expect(damaged.status == 1 && damaged.outputBytes.isEmpty)
        }
    }

    @Test func infoReadsStandardInput() async throws {
        let result = try await Command.run(["info", "-"], input: Self.png)
        #expect(result.status == 0 && result.output.hasPrefix("-: png, "))
    }

    @Test(arguments: [
        (["-o", "DIR/a.avif", "DIR/photo.png"], "no image can be written as .avif"),
        (["-o", "DIR/a.png", "--format", "webp", "DIR/photo.png"], "contradicts the extension"),
        (["-o", "-", "DIR/photo.png", "DIR/photo.png"], "one image to standard output"),
        (["-o", "DIR/a.png", "--name", "{index}", "DIR/photo.png"], "--name applies to files in a folder"),
        (["--overwrite", "-o", "DIR/folder", "DIR/photo.png"], "--overwrite applies to a file"),
        (["-o", "DIR/a.png", "--lossless", "DIR/photo.png"], "--lossless applies to WebP"),
        (["-", "-"], "can be read only once"), (["--name", "{x}", "DIR/photo.png"], "is not a template"),
    ])
    func contradictionsAreUsageErrors(arguments: [String], message: String) async throws {
        try await withTemporaryFolder { folder in
            let result = try await run(arguments, in: folder)
            #expect(result.status == 64)
            #expect(result.errors.contains(message))
        }
    }

    @Test func filesOfAListAreNamedByTheTemplateAndTheServer() async throws {
        try await withLoopbackOrigin { origin in
            let named = LoopbackOrigin.Response(
                headerFields: ["Content-Disposition": "attachment; filename=\"../sun set.png\""], body: Self.png)
            origin.route("/a", named)
            origin.route("/b", LoopbackOrigin.Response(body: Self.png))
            try await withTemporaryFolder { folder in
                let result = try await Command.run(
                    ["get", "-o", folder, "--remote-header-name", "--name", "{index:03}-{name}", "--input", "-"],
                    input: "\(origin.url("/a"))\n\(origin.url("/b"))\n")
                #expect(result.status == 0, "\(result.errors)")
                let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
                #expect(names == ["001-sun set.png", "002-b.png"])
            }
        }
    }

    @Test func cookiesOfAFileAreSentAndNewOnesKeptForTheRun() async throws {
        try await withLoopbackOrigin { origin in
            origin.route(
                "/a.png", LoopbackOrigin.Response(headerFields: ["Set-Cookie": "new=2; Path=/"], body: Self.png))
            origin.route("/b.png", LoopbackOrigin.Response(body: Self.png))
            try await withTemporaryFolder { folder in
                let jar = folder + "/cookies.txt"
                let line = "127.0.0.1\tFALSE\t/\tFALSE\t0\told\t1\n"
                _ = FileManager.default.createFile(
                    atPath: jar, contents: Data("# Netscape HTTP Cookie File\n\(line)".utf8))
                let result = try await Command.run(
                    ["get", "-o", folder, "--cookies", jar, "--concurrency", "1"]
                        + ["/a.png", "/b.png"].map { origin.url($0) })
                #expect(result.status == 0, "\(result.errors)")
                let sent = origin.recordedRequests.map { $0.headerFields["Cookie"] ?? "" }
                #expect(sent.count == 2 && sent[0] == "old=1")
                #expect(Set(sent[1].split(separator: "; ")) == ["old=1", "new=2"])
            }
        }
    }

    @Test func imagesThatNeedNoChangeKeepTheirBytes() async throws {
        try await withTemporaryFolder { folder in
            for (size, isKept) in [("4096", true), ("3", false)] {
                let result = try await run(
                    [
                        "-o", "DIR/\(size)", "--format", "png", "--skip-reencode", "--max-pixel-size", size,
                        "DIR/photo.png",
                    ],
                    in: folder)
                #expect(result.status == 0, "\(result.errors)")
                #expect(try (bytes("\(folder)/\(size)/photo.png") == Self.png) == isKept)
            }
        }
    }
}
