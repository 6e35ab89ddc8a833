import ArgumentParser
import Hashing

/// The options for the list of `webimage batch`.
struct BatchListOptions: ParsableArguments {
    @Option(
        name: .customLong("input"), help: ArgumentHelp("The list; - for standard input.", valueName: "file"))
    var path: String?

    @Option(
        help: """
            The format of the list. (default: by the extension of the file; otherwise, and for standard input, by the \
            first non-blank byte)
            """)
    var inputFormat: ListFormat?

    @Option(help: ArgumentHelp("The column of the URLs.", valueName: "name"))
    var urlCol = ListColumns.defaultURL

    @Option(help: ArgumentHelp("The column of the identifiers, which are returned unchanged.", valueName: "name"))
    var idCol = ListColumns.defaultID

    @Option(help: ArgumentHelp("The column of the captions. (default: none)", valueName: "name"))
    var captionCol: String?

    @Option(
        help: ArgumentHelp(
            "Compare the digest (md5, sha256, or sha512) of each body with the value in a column of the list. The "
                + "column has the name of the digest unless you specify another one.", valueName: "digest[=column]"))
    var verifyHash: DigestColumn?

    @Flag(
        help: """
            Use the column options of the list: a JSON object with max_pixel_size, fit, fill, format, quality, or the \
            options from trim to background except overlay, which replace the options of the same names for this line. A \
            size of a line replaces all size options.
            """)
    var lineOptions = false

    func validate() throws {
        if let path, path != "-", let error = ValidationError("--input", reading: path) { throw error }
        guard urlCol != idCol else { throw ValidationError("--url-col and --id-col cannot be the same column.") }
        if let column = verifyHash?.column, [urlCol, idCol, captionCol].contains(column) {
            throw ValidationError("--verify-hash cannot use the column of --url-col, --id-col, or --caption-col.")
        }
    }

    /// The path of the list, or `-`.
    var input: String { path ?? "" }

    /// The columns with a meaning.
    var columns: ListColumns {
        ListColumns(
            url: urlCol, id: idCol, caption: captionCol, digest: verifyHash?.column,
            options: lineOptions ? "options" : nil)
    }
}

/// An algorithm and the column of its digests, such as `sha256=checksum`.
struct DigestColumn: ExpressibleByArgument, Sendable, Equatable {
    let algorithm: DigestAlgorithm
    let column: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1)
        guard let name = parts.first, let algorithm = DigestAlgorithm(rawValue: String(name)) else { return nil }
        self.algorithm = algorithm
        column = parts.count == 2 ? String(parts[1]) : algorithm.rawValue
    }
}
