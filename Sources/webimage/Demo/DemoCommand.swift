import ArgumentParser
import AsyncWebImage
import LoopbackOrigin

/// `webimage demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Watch images arrive from a slow server on this machine. Needs no network.",
        discussion: """
            Five pictures are made up, encoded, and served by an origin in this process that takes five seconds for \
            each. Eight callers ask for every picture at once; one of them draws it while it comes in.

            On a terminal without colours, or of fewer than 80 by 23 characters, and elsewhere there is only the table.
            """)

    func run() async throws {
        try await Interruption.cancelling {
            let pictures = try DemoPicture.all()
            let screen = DemoScreen(terminal: .output, cells: pictures.count + 1)
            if screen == nil { Terminal.error.tell("Loading \(pictures.count) pictures, slowly...\n") }
            try screen?.open()
            defer { screen?.close() }
            let demo = Demo(pictures: pictures, screen: screen)
            let table = try await withLoopbackOrigin { try await demo.run(on: $0) }
            let memory = peakMemory().map { "\nPeak memory: \(ByteCount($0)), the origin included\n" } ?? ""
            try Terminal.output.write((screen == nil ? "" : "\n") + table.lines.joined(separator: "\n") + "\n" + memory)
        }
    }
}
