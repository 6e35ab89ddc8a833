import ArgumentParser
import ImageCodecs

/// `webimage formats`: lists the formats of this build.
struct FormatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats", abstract: "List the image formats that this build reads and writes.")

    func run() {
        for line in Self.lines { print(line) }
    }

    /// A line for each format, with its identifier first.
    static var lines: [String] {
        var formats = ImageFormat.allBuiltIn
        for custom in CommandFormats.custom where !formats.contains(custom.format) { formats.append(custom.format) }
        let known = formats.map { format in
            let isWritten = OutputFormat.allCases.contains { $0.imageFormat == format }
            return "\(format.identifier)\t\(isWritten ? "reads and writes" : "reads")"
        }
        let missing = CommandFormats.optional.filter { $0.readers.isEmpty }
        return known + missing.map { "\($0.argument)\tnot built in; make install FORMATS=\($0.argument)" }
    }
}
