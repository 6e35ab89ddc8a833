import ArgumentParser
import Foundation
import AsyncWebImage
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

    /// Returns the image with a text, which no encoder here writes, and an orientation behind the pixels.
    private static func storedPNG(orientation: UInt8) -> [UInt8] {
        func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
            func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
            let data = Array(type.utf8) + content
            let sum = data.reduce(~UInt32(0)) { sum, byte in
                (0..<8).reduce(sum ^ UInt32(byte)) { part, _ in part & 1 == 1 ? part >> 1 ^ 0xEDB8_8320 : part >> 1 }
            }
            return big(UInt32(content.count)) + data + big(~sum)
        }
        let texts = chunk("tEXt", Array("Title\0sunset".utf8))
        let exif = chunk("eXIf", TestExif.bytes(orientation: orientation))
        return png.dropLast(12) + texts + exif + png.suffix(12)
    }

    private func bytes(_ path: String) throws -> [UInt8] { try ImageFile(path: path).bytes() }

    private func format(_ path: String) throws -> ImageFormat {
        let file = try bytes(path)
        let header = try ImageHeader.probe(file.span)
        return try #require(header).format
    }

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
            let relative = try await Command.run(
                ["get", "-o", "old.png", "--overwrite", "photo.png"], by: "cd \(folder) && \"$@\"")
            #expect(relative.output.hasPrefix("old.png  40x30"), "\(relative.output)")
            let failed = try await run(["-o", "DIR/old.png", "--overwrite", "DIR/missing.png"], in: folder)
            #expect(failed.status == 1)
            #expect(try bytes(old) == Self.png)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["old.png", "photo.png"])
        }
    }

    @Test(arguments: [
        ["-o", "DIR/new/images"], ["-o", "DIR/new/images/a.png"],
        ["-o", "DIR/new/images", "--progressive-dir", "DIR/new"],
        ["-o", "DIR", "--progressive-dir", "DIR/new"], ["-o", "DIR/new", "--cache", "DIR/photo.png"],
    ])
    func noEmptyFolderRemainsIfNothingIsWritten(options: [String]) async throws {
        try await withTemporaryFolder { folder in
            let result = try await run(options + ["http://127.0.0.1:1/missing.png", "--retries", "0"], in: folder)
            #expect(result.status == 1, "\(result.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["photo.png"])
        }
    }

    @Test func aLinkIsKeptAndTheFileThatItNamesIsReplacedWithItsMode() async throws {
        try await withTemporaryFolder { folder in
            let (file, link) = (folder + "/real.png", folder + "/link.png")
            #expect(
                FileManager.default.createFile(
                    atPath: file, contents: Data("old".utf8), attributes: [.posixPermissions: 0o640]))
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real.png")
            let result = try await run(["--overwrite", "-o", "DIR/link.png", "DIR/photo.png"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real.png")
            #expect(try bytes(file) == Self.png)
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
        }
    }

    @Test func aFileIsReplacedOnEveryFileSystem() throws {
        for system in FileSystem.allCases {
            try withTemporaryFolder { folder in
                let output = try OutputFolder(path: folder, calls: system.calls)
                #expect(FileManager.default.createFile(atPath: folder + "/a.png", contents: Data([9])))
                let file = output.makeFile()
                try file.append([1, 2, 3])
                #expect(try file.place(at: folder + "/a.png", replacing: true))
                #expect(try bytes(folder + "/a.png") == [1, 2, 3])
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.png"])
            }
        }
    }

    @Test func theOpenStandardOutputIsNoFileToReplace() async throws {
        try await withTemporaryFolder { folder in
            let result = try await run(["-o", "/dev/stdout", "--overwrite", "DIR/photo.png"], in: folder)
            #expect(result.status == 64 && result.errors.contains("--overwrite applies to a file"))
            let plain = try await run(["-o", "/dev/stdout", "DIR/photo.png"], in: folder)
            #expect(plain.outputBytes == Self.png && plain.status == 0)
        }
    }

    @Test func aStreamThatNobodyReadsDoesNotHoldUpAnInterruption() async throws {
        try await withTemporaryFolder { folder in
            let large = try TestImages.photo(width: 600, height: 600).encoded(as: .png)
            let path = folder + "/large.png"
            try Data(large).write(to: URL(fileURLWithPath: path))
            let fifo = folder + "/fifo"
            #expect(mkfifo(fifo, 0o600) == 0)
            // The shell holds the pipe open for reading, and reads nothing.
            let script = "exec 9<>\(fifo); exec \"$@\" >&9"
            let result = try await Command.run(["get", "-o", "-", path], by: script) { command in
                let reader = open(fifo, O_RDONLY | O_NONBLOCK)
                defer { close(reader) }
                // Until the pipe is full.
                var count: Int32 = 0
                while count < 60_000, await !command.ends(within: .milliseconds(1)) {
                    _ = ioctl(reader, UInt(FIONREAD), &count)
                }
                command.interrupt()
            }
            #expect(result.status == 130)
        }
    }

    @Test(arguments: [
        (["-o", "a.png"], true), (["--format", "png"], true), ([], false),
        (["--format", "png", "--skip-reencode"], true),
    ])
    func imagesThatMayBeConvertedHaveTheMemoryOfConversions(options: [String], converts: Bool) throws {
        let decoding = try GetCommand.parse(options + ["photo.jpg"]).loaderConfiguration(concurrency: 1).decoding
        let limits = MemoryLimits()
        #expect(decoding.memoryBudget == (converts ? limits.allConversions : limits.allChecks))
        #expect(decoding.maximumDecodeBytes == limits.image)
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
        (["-o", "DIR/a.bmp", "DIR/photo.png"], "no image can be written as .bmp"),
        (["-o", "DIR/a.png", "--format", "webp", "DIR/photo.png"], "contradicts the extension"),
        (["-o", "-", "DIR/photo.png", "DIR/photo.png"], "one image to standard output"),
        (["-o", "DIR/a.png", "DIR/photo.png", "DIR/photo.png"], "a.png looks like a file"),
        (["-o", "DIR/a.png", "--input", "-"], "a.png looks like a file"),
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
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["photo.png"])
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
            // Whichever is requested first.
            origin.route(
                "/*", LoopbackOrigin.Response(headerFields: ["Set-Cookie": "new=2; Path=/"], body: Self.png))
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

    @Test(arguments: ["photo.png", "orientation.png"])
    func filesOfOtherEncodersThatNeedNoChangeKeepTheirBytes(name: String) async throws {
        try await withTemporaryFolder { folder in
            // Compressed as no encoder here does, and with an orientation behind the pixels.
            let turned = name == "orientation.png"
            let file = Self.storedPNG(orientation: turned ? 6 : 1)
            try Data(file).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            let result = try await Command.run(
                ["get", "-o", folder + "/out", "--format", "png", "--skip-reencode", "\(folder)/\(name)"])
            #expect(result.status == 0, "\(result.errors)")
            #expect(try (bytes("\(folder)/out/\(name)") == file) == !turned)
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
