import AsyncWebImage
import Foundation
import Testing
import WebimageConsole

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct ProgressDisplayTests {
    private let meter = TransferMeter(over: CurlTransport(configuration: CurlTransport.Configuration()))
    private let source = ImageSource(argument: "a.png")

    @Test func resultThatARedrawCannotWriteIsAnErrorAtTheEnd() async throws {
        let full = open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        defer { close(full) }
        let display = ProgressDisplay(
            printsJSON: true, meter: meter, output: Terminal(descriptor: full), progress: Terminal(descriptor: -1),
            isLive: true)
        let id = await display.begin(source)
        try await display.end(id, Outcome(url: "a.png"))
        let drawing = await #expect(throws: FileError.self) { try await display.redrawRegularly() }
        #expect(drawing?.code == ENOSPC)
        let closing = await #expect(throws: FileError.self) { try await display.close() }
        #expect(closing == drawing)
    }

    @Test func resultThatIsFirstWrittenAtTheEndIsAnErrorIfItCannotBe() async throws {
        let full = open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        defer { close(full) }
        let display = ProgressDisplay(
            printsJSON: false, meter: meter, output: Terminal(descriptor: full), progress: Terminal(descriptor: -1),
            isLive: true)
        let id = await display.begin(source)
        try await display.end(id, Outcome(url: "a.png"))
        await #expect(throws: FileError.self) { try await display.close() }
    }

    @Test func lineIsLeftAloneWhileThereAreNoImages() async throws {
        try await withTemporaryFolder { folder in
            let progress = open(folder + "/progress", O_WRONLY | O_CREAT, 0o600)
            defer { close(progress) }
            let display = ProgressDisplay(
                printsJSON: false, meter: meter, output: Terminal(descriptor: -1),
                progress: Terminal(descriptor: progress), isLive: true)
            try await display.close()
            #expect(lseek(progress, 0, SEEK_END) == 0)
        }
    }

    @Test func failuresAreDisplayedIfResultsCannotBeWritten() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/progress"
            let (full, progress) = (open("/dev/full", O_WRONLY), open(path, O_WRONLY | O_CREAT, 0o600))
            defer { for descriptor in [full, progress] { close(descriptor) } }
            let display = ProgressDisplay(
                printsJSON: false, meter: meter, output: Terminal(descriptor: full),
                progress: Terminal(descriptor: progress), isLive: true)
            var failure = Outcome(url: "http://a/missing.jpg")
            failure.failure = ImageFailure(.status(404), "status 404")
            for outcome in [Outcome(url: "a.png"), failure] {
                try await display.end(await display.begin(source), outcome)
            }
            await #expect(throws: FileError.self) { try await display.close() }
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.contains("missing.jpg") && text.contains("status 404"))
        }
    }

    @Test func failureOfPreviewsIsDisplayedBesideTheResult() async throws {
        try await withTemporaryFolder { folder in
            let paths = ["results", "progress"].map { "\(folder)/\($0)" }
            let descriptors = paths.map { open($0, O_WRONLY | O_CREAT, 0o600) }
            defer { for descriptor in descriptors { close(descriptor) } }
            let display = ProgressDisplay(
                printsJSON: false, meter: meter, output: Terminal(descriptor: descriptors[0]),
                progress: Terminal(descriptor: descriptors[1]), isLive: false)
            var outcome = Outcome(url: "http://a/b.jpg")
            outcome.path = "b.jpg"
            outcome.previewError = "no space"
            let id = await display.begin(source)
            try await display.end(id, outcome)
            try await display.close()
            let texts = try paths.map { try String(contentsOfFile: $0, encoding: .utf8) }
            #expect(texts == ["b.jpg\n", "webimage: http://a/b.jpg: no further previews: no space\n"])
            #expect(await display.failed == 0)
        }
    }
}
