import WebimageConsole

/// Displays results on standard output, and progress on standard error.
///
/// Failures are results on standard output if the lines are JSON; otherwise they are displayed on standard error.
///
/// On a terminal, there is a line for every image that is being transferred or processed and one for the total, redrawn at most ten times per
/// second; otherwise only the plain lines of results. Errors while writing to standard error are ignored, because they
/// do not affect the images.
actor ProgressDisplay {
    private let printsJSON: Bool
    private let isLive: Bool
    /// The stream for results.
    private let output: Terminal
    /// The stream for progress, and for failures as text.
    private let progress: Terminal
    private let meter: TransferMeter
    private var started: [Int: ImageSource] = [:]
    private var count = 0
    private var succeeded = 0
    private(set) var failed = 0
    /// Results that wait for the next redraw, so that they do not break up the live lines.
    private var waiting: [Outcome] = []
    private var drawnLines = 0
    /// The reason why standard output is no longer writable.
    private var outputFailure: FileError?

    /// Creates a display; tests replace the streams of the process.
    init(
        printsJSON: Bool, meter: TransferMeter, output: Terminal = .output, progress: Terminal = .error,
        isLive: Bool? = nil
    ) {
        self.printsJSON = printsJSON
        self.meter = meter
        self.output = output
        self.progress = progress
        self.isLive = isLive ?? progress.isInteractive
    }

    /// Adds an image, which is displayed from the beginning of its transfer; returns its number for `end`.
    func begin(_ source: ImageSource) -> Int {
        count += 1
        started[count] = source
        return count
    }

    /// The images that are being transferred or processed, in the order in which they were added.
    var running: [String] {
        started.filter { meter.hasBegun($0.value) }.sorted { $0.key < $1.key }.map(\.value.text)
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

    /// Redraws until the task is canceled; throws an error if standard output is no longer writable.
    func redrawRegularly() async throws(FileError) {
        while isLive, !Task.isCancelled {
            redraw()
            if let outputFailure { throw outputFailure }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Removes the live lines and, for several images, displays a summary.
    ///
    /// Throws an error if a result could not be written to standard output.
    func close() throws(FileError) {
        started = [:]
        if isLive {
            // The cursor can be behind ^C.
            if drawnLines == 0, count > 0 { progress.tell("\r\u{1B}[J") }
            redraw()
        }
        if count > 1 { progress.tell("\(summary)\n") }
        if let outputFailure { throw outputFailure }
    }

    private func report(_ outcome: Outcome) throws(FileError) {
        if printsJSON { return try output.write(outcome.json + "\n") }
        if outcome.isSuccess {
            try output.write(outcome.line + "\n")
        } else {
            progress.tell(outcome.line + "\n")
        }
        if let line = outcome.previewLine { progress.tell(line + "\n") }
    }

    /// Displays the results that wait, and the live lines; stores the reason if standard output is not writable.
    private func redraw() {
        if drawnLines > 0, !waiting.isEmpty {
            progress.tell("\u{1B}[\(drawnLines)A\r\u{1B}[J")
            drawnLines = 0
        }
        let outcomes = waiting
        waiting = []
        for outcome in outcomes {
            // The failures of others are displayed even if results cannot be written.
            do throws(FileError) { try report(outcome) } catch { outputFailure = outputFailure ?? error }
        }

        let size = progress.size
        let running = running
        var lines = running.prefix(max(0, size.rows - 2)).map { line(for: $0, columns: size.columns - 1) }
        if !running.isEmpty { lines.append("\(summary), \(running.count) running".fitting(size.columns - 1)) }
        // If nothing is drawn, the line can belong to what the user types.
        guard drawnLines > 0 || !lines.isEmpty else { return }
        // The cursor can be behind ^C.
        let up = drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r" : "\r"
        progress.tell(up + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J")
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
