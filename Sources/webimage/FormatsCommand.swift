import ArgumentParser
import ImageCodecs
import ImageEncoders

/// `webimage formats`: lists the formats of this build.
struct FormatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats", abstract: "List the image formats that this build reads and writes.")

    func run() {
        for line in Self.lines { print(line) }
    }

    /// A line for each format, with its identifier first.
    static var lines: [String] {
        let formats = ImageFormat.allBuiltIn + CommandFormats.custom.map(\.format)
        let known = formats.map { format in
            "\(format.identifier)\t\(EncodeOptions.formats.contains(format) ? "reads and writes" : "reads")"
        }
        let missing = CommandFormats.optional.filter { name in !formats.contains { $0.name == name } }
        return known + missing.map { "\($0.lowercased())\tnot built in; make install FORMATS=\($0.lowercased())" }
    }
}
