import ArgumentParser

/// The formats of a list of images.
enum ListFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// A JSON object per line.
    case ndjson
    /// A URL per line.
    case lines
    /// Comma-separated values with a header line (RFC 4180).
    case csv
    /// Values separated by tabs, with a header line; quotation marks are characters.
    case tsv

    /// Creates the format of a file by its name, such as `list.jsonl` or `list.csv.gz`; `nil` for standard input and
    /// other names.
    init?(path: String) {
        var name = path.lowercased()
        if name.hasSuffix(".gz") { name.removeLast(3) }
        guard let dot = name.lastIndex(of: ".") else { return nil }
        switch name[dot...] {
        case ".jsonl", ".ndjson": self = .ndjson
        case ".txt": self = .lines
        case ".csv": self = .csv
        case ".tsv": self = .tsv
        default: return nil
        }
    }

    /// Creates the format of a list with this beginning: a brace as the first byte that is not blank begins JSON,
    /// anything else is a URL.
    init(beginning bytes: ArraySlice<UInt8>) {
        self = bytes.first { !$0.isBlank } == UInt8(ascii: "{") ? .ndjson : .lines
    }

    /// The separator of the values in a line; `nil` if lines have no columns.
    var separator: UInt8? {
        switch self {
        case .csv: UInt8(ascii: ",")
        case .tsv: UInt8(ascii: "\t")
        case .ndjson, .lines: nil
        }
    }

    /// Returns the values of a line; `nil` if a quoted field does not end, or if lines have no columns.
    func values(of line: [UInt8]) -> [[UInt8]]? {
        switch self {
        case .csv: separator.flatMap { CSVRecord.values(of: line, separator: $0) }
        case .tsv: separator.map { line.split(separator: $0, omittingEmptySubsequences: false).map { Array($0) } }
        case .ndjson, .lines: nil
        }
    }
}
