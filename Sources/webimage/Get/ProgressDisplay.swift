import WebimageConsole

/// Displays results on standard output, and progress on standard error.
///
/// Failures are results on standard output if the lines are JSON; otherwise they are displayed on standard error.
///
/// On a terminal, there is a line for every image that has a place and one for the total, redrawn at most ten times per
/// second; otherwise only the plain lines of results. Errors while writing to standard error are ignored, because they
/// do not affect the images.
actor ProgressDisplay {
    private let printsJSON: Bool
    private let isLive: Bool
    private let meter: TransferMeter
    private var started: [Int: (url: String, place: SourcePlace)] = [:]
    private var count = 0
    private var succeeded = 0
    private(set) var failed = 0
    /// Results that wait for the next redraw, so that they do not break up the live lines.
    private var waiting: [Outcome] = []
    private var drawnLines = 0
    /// The reason why standard output is no longer writable.
    private var outputFailure: FileError?

    init(printsJSON: Bool, meter: TransferMeter) {
        self.printsJSON = printsJSON
        self.meter = meter
        isLive = Terminal.error.isInteractive
    }

    /// Adds an image, which is displayed while it has its place; returns its number for `end`.
    func begin(_ url: String, _ place: SourcePlace) -> Int {
        count += 1
        started[count] = (url, place)
        return count
    }

    /// The images that have a place, in the order in which they were added.
    var running: [String] {
        started.filter { $0.value.place.isHeld }.sorted { $0.key < $1.key }.map(\.value.url)
    }

    /// Removes an image and displays its outcome.
    ///
    /// Throws an error if standard output is no longer writable.
    func end(_ id: Int, _ outcome: Outcome) throws(FileError) {
        started[id] = nil
        if outcome.isSuccess { succeeded += 1 } else { failed += 1 }
        if let outputFailure { throw outputFailure }
        if isLive {
            waiting.append(outcome)
        } else {
            try report(outcome)
        }
    }

    /// Redraws until the task is canceled or standard output is no longer writable, which `end` reports.
    func redrawRegularly() async {
        while isLive, outputFailure == nil, !Task.isCancelled {
            do throws(FileError) { try redraw() } catch { outputFailure = error }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Removes the live lines and, for several images, displays a summary.
    func close() throws(FileError) {
        started = [:]
        if isLive { try redraw() }
        if count > 1 { Terminal.error.tell("\(summary)\n") }
    }

    private func report(_ outcome: Outcome) throws(FileError) {
        if printsJSON {
            try Terminal.output.write(outcome.json + "\n")
        } else if outcome.isSuccess {
            try Terminal.output.write(outcome.line + "\n")
        } else {
            Terminal.error.tell(outcome.line + "\n")
        }
    }

    private func redraw() throws(FileError) {
        if drawnLines > 0, !waiting.isEmpty {
            Terminal.error.tell("\u{1B}[\(drawnLines)A\r\u{1B}[J")
            drawnLines = 0
        }
        let outcomes = waiting
        waiting = []
        for outcome in outcomes { try report(outcome) }

        let size = Terminal.error.size
        let running = running
        var lines = running.prefix(max(0, size.rows - 2)).map { line(for: $0, columns: size.columns - 1) }
        if !running.isEmpty { lines.append("\(summary), \(running.count) running".fitting(size.columns - 1)) }
        let up = drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r" : ""
        Terminal.error.tell(up + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J")
        drawnLines = lines.count
    }

    private var summary: String {
        let failures = failed > 0 ? ", \(failed) failed" : ""
        return "\(succeeded) \(succeeded == 1 ? "image" : "images")\(failures), \(ByteCount(meter.received)) received"
    }

    private func line(for url: String, columns: Int) -> String {
        let width = 16
        let flow = meter.flow(of: url)
        let received = flow?.received ?? 0
        let bar: String
        if let expected = flow?.expected, expected > 0 {
            let filled = min(width, received * width / expected)
            bar = String(repeating: "━", count: filled) + String(repeating: "╌", count: width - filled)
        } else {
            bar = String(repeating: received > 0 ? "┅" : "╌", count: width)
        }
        let amount = ByteCount(received).description
        let padding = String(repeating: " ", count: max(0, 7 - amount.count))
        // The last part of a URL distinguishes it from others.
        let name = url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last.map { String($0) } ?? url
        return "\(bar) \(padding)\(amount)  \(name.printable)".fitting(columns)
    }
}
