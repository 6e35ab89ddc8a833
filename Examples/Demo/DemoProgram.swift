import AsyncWebImage
import WebimageConsole
import LoopbackOrigin

import Glibc

/// Images arrive from a slow server on this machine; no network is needed.
///
/// Five pictures are generated, encoded, and served by an origin in this process that takes five seconds for each.
/// Eight callers request every picture at once; one of them draws it while it arrives. On a terminal without colors
/// or smaller than 80 by 23 characters, and elsewhere, only the table is printed.
@main
enum DemoProgram {
    static func main() async {
        // Writing to a closed pipe must be an error instead of terminating the process.
        signal(SIGPIPE, SIG_IGN)
        do {
            try await Interruption.cancelling {
                try await run()
            } beforeExit: {
                DemoScreen.showCursor(on: .output)
            }
        } catch let interrupted as Interruption.Interrupted {
            // The terminal shows ^C; the prompt must start on a new line.
            if Terminal.error.isInteractive { Terminal.error.tell("\n") }
            exit(interrupted.exitStatus)
        } catch {
            Terminal.error.tell("demo: \(error)\n")
            exit(1)
        }
    }

    private static func run() async throws {
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
