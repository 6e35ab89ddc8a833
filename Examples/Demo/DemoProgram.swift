import AsyncWebImage
import WebimageConsole
import LoopbackOrigin

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Images arrive from a slow server on this machine; no network is needed.
///
/// Five pictures are made up, encoded, and served by an origin in this process that takes five seconds for each. Eight
/// callers ask for every picture at once; one of them draws it while it comes in. On a terminal without colors, or of
/// fewer than 80 by 23 characters, and elsewhere there is only the table.
@main
enum DemoProgram {
    static func main() async {
        // A closed pipe is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        do {
            try await Interruption.cancelling { try await run() }
        } catch let interrupted as Interruption.Interrupted {
            // The terminal has shown ^C; the prompt must not stand behind it.
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
