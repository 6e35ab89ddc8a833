/// Tells the user what is going on: results on standard output, failures and progress on standard error.
///
/// On a terminal there is a line for every running image and one for the total, redrawn at most ten times a second;
/// elsewhere only the plain lines of results.
actor ProgressDisplay {
    private struct Running {
        let name: String
        var received = 0
        var expected: Int?
    }

    private let printsJSON: Bool
    private let isLive: Bool
    private var running: [(id: Int, image: Running)] = []
    private var started = 0
    private var succeeded = 0
    private(set) var failed = 0
    private var bytesReceived = 0
    /// Results that wait for the next redraw, so that they do not tear the live lines apart.
    private var waiting: [Outcome] = []
    private var drawnLines = 0

    init(printsJSON: Bool) {
        self.printsJSON = printsJSON
        isLive = Terminal.error.isInteractive
    }

    /// An image has begun; the number is for the other calls.
    func begin(_ name: String) -> Int {
        started += 1
        running.append((started, Running(name: name.printable)))
        return started
    }

    func update(_ id: Int, received: Int, expected: Int?) {
        guard let index = running.firstIndex(where: { $0.id == id }) else { return }
        bytesReceived += max(0, received - running[index].image.received)
        running[index].image.received = received
        running[index].image.expected = expected
    }

    /// An image is done.
    ///
    /// Throws if standard output is gone.
    func end(_ id: Int, _ outcome: Outcome) throws(FileError) {
        running.removeAll { $0.id == id }
        if outcome.isSuccess { succeeded += 1 } else { failed += 1 }
        if isLive {
            waiting.append(outcome)
        } else {
            try report(outcome)
        }
    }

    /// Redraws until the task is cancelled.
    ///
    /// Throws if standard output is gone.
    func redrawRegularly() async throws {
        guard isLive else { return }
        while !Task.isCancelled {
            try redraw()
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Leaves only the results and, of many, a summary.
    func close() throws(FileError) {
        running = []
        if isLive { try redraw() }
        if started > 1 { try Terminal.error.write("\(summary)\n") }
    }

    private func report(_ outcome: Outcome) throws(FileError) {
        if printsJSON { try Terminal.output.write(outcome.json + "\n") }
        if !outcome.isSuccess {
            try Terminal.error.write(outcome.line + "\n")
        } else if !printsJSON {
            try Terminal.output.write(outcome.line + "\n")
        }
    }

    private func redraw() throws(FileError) {
        if drawnLines > 0, !waiting.isEmpty {
            try Terminal.error.write("\u{1B}[\(drawnLines)A\r\u{1B}[J")
            drawnLines = 0
        }
        let outcomes = waiting
        waiting = []
        for outcome in outcomes { try report(outcome) }

        let size = Terminal.error.size
        var lines = running.prefix(max(0, size.rows - 2)).map { line(for: $0.image, columns: size.columns - 1) }
        if !running.isEmpty { lines.append("\(summary), \(running.count) running".fitting(size.columns - 1)) }
        let up = drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r" : ""
        try Terminal.error.write(up + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J")
        drawnLines = lines.count
    }

    private var summary: String {
        let failures = failed > 0 ? ", \(failed) failed" : ""
        return "\(succeeded) \(succeeded == 1 ? "image" : "images")\(failures), \(ByteCount(bytesReceived)) received"
    }

    private func line(for image: Running, columns: Int) -> String {
        let width = 16
        let bar: String
        if let expected = image.expected, expected > 0 {
            let filled = min(width, image.received * width / expected)
            bar = String(repeating: "━", count: filled) + String(repeating: "╌", count: width - filled)
        } else {
            bar = String(repeating: image.received > 0 ? "┅" : "╌", count: width)
        }
        let amount = ByteCount(image.received).description
        let padding = String(repeating: " ", count: max(0, 7 - amount.count))
        return "\(bar) \(padding)\(amount)  \(image.name)".fitting(columns)
    }
}
