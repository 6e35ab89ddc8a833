@testable import AsyncWebImage
import Foundation
import Glibc
import TestSupport
import Testing

/// Files of a folder as images of a loader.
@Suite(.timeLimit(.minutes(1)))
struct FileSourceTests {
    private func loader(_ folder: String, maximumBytes: Int = 1 << 20) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.sources = [.files(under: folder)]
        configuration.downloads.maximumBodyBytes = maximumBytes
        return ImageLoader(configuration: configuration)
    }

    /// The reason why a file cannot be loaded.
    private func refusal(_ url: String, _ loader: ImageLoader) async -> TransportError.Reason? {
        do {
            _ = try await loader.image(for: ImageRequest(url))
            return nil
        } catch ImageError.transport(let error) {
            #expect(error.url == url)
            return error.reason
        } catch {
            Issue.record(error)
            return nil
        }
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try await body(folder)
        }
    }

    private func write(_ bytes: [UInt8], _ path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }

    @Test func imageIsLoadedFromAFile() async throws {
        try await withFolder { folder in
            let file = try Samples.file(.png)
            try write(file, "\(folder)/a photo@2x.png")
            let loader = loader(folder)
            let request = ImageRequest(URL(filePath: "\(folder)/a photo@2x.png"))

            let image = try await loader.image(for: request)

            #expect(image.pixels == Samples.picture(64, 48) && image.byteCount == file.count)
            #expect(image.source == .source && image.scale == 2)
            #expect(try await loader.data(for: request).bytes == file)
            #expect(try await loader.info(for: request).header.format == .png)
            #expect(try await loader.image(for: request).source == .imageCache)
        }
    }

    @Test func largeFileArrivesInPieces() async throws {
        try await withFolder { folder in
            let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try write(bytes, "\(folder)/data")
            let request = ImageRequest("file://localhost\(folder)/data?version#part")
            let loader = loader(folder)
            #expect(try await loader.data(for: request).bytes == bytes)
            var received: [UInt8] = []
            for try await piece in try await loader.bytes(for: request) { received += piece }
            #expect(received == bytes)
        }
    }

    @Test func fileThatChangesWhileItIsReadIsNotComplete() async throws {
        try await withFolder { folder in
            let path = "\(folder)/data"
            try write([UInt8](repeating: 1, count: 400_000), path)
            let file = try ReadableFile(Array(path.utf8), under: folder)
            let first = try file.read(from: 0)
            #expect(first.count == ReadableFile.maximumPiece)
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: [2])
            try handle.close()
            #expect(throws: ReadableFile.Failure.self) { try file.read(from: first.count) }
        }
    }

    @Test func equivalentSpellingsNameDifferentFiles() async throws {
        try await withFolder { folder in
            try write([1], "\(folder)/caf\u{E9}")
            try write([2], "\(folder)/cafe\u{301}")
            let loader = loader(folder)
            #expect(try await loader.data(for: ImageRequest("file://\(folder)/caf\u{E9}")).bytes == [1])
            #expect(try await loader.data(for: ImageRequest("file://\(folder)/cafe\u{301}")).bytes == [2])
        }
    }

    @Test func aVersionOfAFileIsRecognized() async throws {
        try await withFolder { folder in
            try write(try Samples.file(.png), "\(folder)/a.png")
            let loader = loader(folder)
            var request = ImageRequest("file://\(folder)/a.png", cachePolicy: .reload)
            let first = try await loader.image(for: request)
            request.knownVersion = ResponseVersion(first.head)
            do {
                _ = try await loader.image(for: request)
                Issue.record("the file has not changed")
            } catch ImageError.notModified {}
            try write(try Samples.file(.png, 32, 32), "\(folder)/a.png")
            #expect(try await loader.image(for: request).pixels.size == PixelSize(width: 32, height: 32))
        }
    }

    @Test func linksMayNotLeadOutOfTheFolder() async throws {
        try await withFolder { outer in
            let folder = "\(outer)/images"
            let files = FileManager.default
            try files.createDirectory(atPath: "\(folder)/real", withIntermediateDirectories: true)
            try files.createDirectory(atPath: "\(outer)/images-2", withIntermediateDirectories: true)
            for path in ["\(folder)/real/a.png", "\(outer)/secret.png", "\(outer)/images-2/a.png"] {
                try write(try Samples.file(.png), path)
            }
            try files.createSymbolicLink(atPath: "\(folder)/current", withDestinationPath: "\(folder)/real")
            try files.createSymbolicLink(atPath: "\(folder)/out.png", withDestinationPath: "\(outer)/secret.png")
            try files.createSymbolicLink(atPath: "\(outer)/link", withDestinationPath: folder)
            let loader = loader("\(outer)/link")

            _ = try await loader.image(for: ImageRequest("file://\(folder)/current/a.png"))
            let outside = ["images/out.png", "secret.png", "images/../secret.png", "images/%2e%2e/secret.png"]
            for path in outside + ["images-2/a.png"] {
                #expect(await refusal("file://\(outer)/\(path)", loader) == .sourceRefused, "\(path)")
            }
        }
    }

    @Test func onlyRegularFilesAreRead() async throws {
        try await withFolder { folder in
            #expect(mkfifo("\(folder)/fifo", 0o600) == 0)
            let loader = loader("/")
            for path in ["\(folder)/fifo", folder, "/dev/zero", "/dev/tty"] {
                #expect(await refusal("file://\(path)", loader) == .sourceFailed, "\(path)")
            }
            for path in ["\(folder)/missing.png", "\(folder)/fifo/a.png"] {
                #expect(await refusal("file://\(path)", loader) == .sourceNotFound, "\(path)")
            }
            #expect(await refusal("file://example.com\(folder)/a.png", loader) == .sourceFailed)
            #expect(await refusal("file:relative.png", loader) == .sourceFailed)
            #expect(await refusal("file://\(folder)/a%00.png", loader) == .sourceFailed)
        }
    }

    @Test func fileLargerThanABodyMayBeIsNotRead() async throws {
        try await withFolder { folder in
            try write([UInt8](repeating: 7, count: 2_000), "\(folder)/large")
            #expect(
                await refusal("file://\(folder)/large", loader(folder, maximumBytes: 1_999))
                    == .bodyTooLarge(limit: 1_999))
            try write([], "\(folder)/empty")
            await #expect(throws: ImageError.self) {
                _ = try await loader(folder).data(for: ImageRequest("file://\(folder)/empty"))
            }
        }
    }

    @Test func filesAreNotReadWithoutASource() async throws {
        let loader = ImageLoader(configuration: .patient)
        await #expect(throws: ImageError.self) { _ = try await loader.image(for: ImageRequest("file:///etc/hostname")) }
    }
}
