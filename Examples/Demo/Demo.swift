import WebimageConsole
import AsyncWebImage
import LoopbackOrigin

/// A demonstration: many callers, few requests, and previews while the images arrive.
struct Demo: Sendable {
    private static let callers = 8
    private static let pieces = 100

    let pictures: [DemoPicture]
    let screen: DemoScreen?
    /// The time in seconds that each picture takes to arrive.
    var duration = 5.0

    /// Loads every picture from `origin` and returns a table of the results.
    func run(on origin: LoopbackOrigin) async throws -> Table {
        for picture in pictures {
            let response = LoopbackOrigin.Response(headerFields: ["Content-Type": "image/*"], body: picture.bytes)
            let bytesPerSecond = Int(Double(picture.bytes.count) / duration)
            origin.route(
                picture.path,
                response.paced(bytesPerSecond: bytesPerSecond, chunk: picture.bytes.count / Self.pieces + 1))
        }
        if let screen {
            let empty = Array(repeating: String(repeating: "·", count: screen.columns), count: screen.rows)
            for (cell, picture) in pictures.enumerated() { try screen.draw(empty, caption: picture.kind, cell: cell) }
        }
        let loader = ImageLoader()
        let start = ContinuousClock.now
        let timings = try await withThrowingTaskGroup(of: (Int, Timing).self) { group in
            for (cell, picture) in pictures.enumerated() {
                group.addTask { (cell, try await load(picture, cell: cell, from: origin, by: loader, since: start)) }
            }
            return try await group.reduce(into: [Int: Timing]()) { $0[$1.0] = $1.1 }
        }
        return table(timings, origin.counts)
    }

    private struct Timing: Sendable {
        var firstPreview: Duration?
        var final: Duration?
    }

    /// Loads one picture for all callers, one of which watches the previews.
    private func load(
        _ picture: DemoPicture, cell: Int, from origin: LoopbackOrigin, by loader: ImageLoader,
        since start: ContinuousClock.Instant
    ) async throws -> Timing {
        let request = ImageRequest(origin.url(picture.path))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1..<Self.callers {
                group.addTask { _ = try await loader.image(for: request) }
            }
            var timing = Timing()
            for try await frame in loader.previews(for: request) {
                let elapsed = ContinuousClock.now - start
                if frame.isFinal {
                    timing.final = elapsed
                } else {
                    timing.firstPreview = timing.firstPreview ?? elapsed
                }
                try draw(frame, of: picture, cell: cell, origin.counts)
            }
            try await group.waitForAll()
            return timing
        }
    }

    private func draw(
        _ frame: ImagePreview, of picture: DemoPicture, cell: Int, _ counts: LoopbackOrigin.Counts
    ) throws {
        guard let screen else { return }
        let lines = HalfBlocks.lines(
            rgba: frame.pixels.bytes, width: frame.pixels.width, height: frame.pixels.height,
            columns: screen.columns, rows: screen.rows)
        let percent = (counts.bodyBytesSent[picture.path] ?? 0) * 100 / max(1, picture.bytes.count)
        let state = frame.isFinal ? "done" : frame.scan.map { "scan \($0)" } ?? "\(percent)%"
        try screen.draw(lines, caption: "\(picture.kind), \(state)", cell: cell)
        try screen.draw(summary(counts), caption: "", cell: pictures.count)
    }

    private func summary(_ counts: LoopbackOrigin.Counts) -> [String] {
        let sent = counts.bodyBytesSent.values.reduce(0, +)
        return [
            "", "  async-web-image", "",
            "  callers   \(pictures.count * Self.callers)",
            "  requests  \(counts.totalRequests)",
            "  received  \(ByteCount(sent))    ",
        ]
    }

    private func table(_ timings: [Int: Timing], _ counts: LoopbackOrigin.Counts) -> Table {
        var table = Table(heading: ["image", "callers", "requests", "bytes", "preview", "final"])
        for (cell, picture) in pictures.enumerated() {
            table.add([
                "\(picture.path.dropFirst()) (\(picture.kind))", "\(Self.callers)",
                "\(counts.requests[picture.path] ?? 0)", "\(counts.bodyBytesSent[picture.path] ?? 0)",
                Self.seconds(timings[cell]?.firstPreview), Self.seconds(timings[cell]?.final),
            ])
        }
        return table
    }

    private static func seconds(_ duration: Duration?) -> String {
        guard let duration else { return "-" }
        let hundredths = Int((duration / .milliseconds(10)).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
    }
}
