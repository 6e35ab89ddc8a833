import AsyncWebImage
import WebimageConsole
import LoopbackOrigin
import Testing

@testable import WebimageDemo

@Suite(.timeLimit(.minutes(2)))
struct DemoTests {
    @Test func manyCallersCauseOneRequestPerPicture() async throws {
        let pictures = try DemoPicture.all(width: 192)  // generating larger ones takes minutes with a sanitizer
        let lines = try await withLoopbackOrigin { origin in
            let demo = Demo(pictures: pictures, screen: nil, duration: 0.2)
            let lines = try await demo.run(on: origin).lines
            for picture in pictures {
                #expect(origin.counts.requests[picture.path] == 1)
                #expect(origin.counts.bodyBytesSent[picture.path] == picture.bytes.count)
            }
            return lines
        }
        #expect(lines.count == 1 + pictures.count)
        #expect(!lines.contains { $0.hasSuffix(" -") }, "a picture has never been complete")
    }

    @Test func demoShowsNoPicturesWithoutATerminal() {
        #expect(DemoScreen(terminal: Terminal(descriptor: -1), cells: 6) == nil)
    }
}
