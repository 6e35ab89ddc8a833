import WebimageConsole

/// A grid of pictures with captions, redrawn in place below the previous content of the terminal.
struct DemoScreen {
    private static let across = 3
    private static let gap = 1
    /// The number of columns that fits 80 by 24 characters, up to a useful maximum.
    private static let columns = 26...60
    /// The rows of the terminal left for the table below.
    private static let rowsBelow = 11

    private let terminal: Terminal
    private let cells: Int
    /// The number of columns of one picture; each character shows two pixels vertically.
    let columns: Int
    let rows: Int

    private var height: Int { Self.lines(of: cells, rows: rows) }

    private static func lines(of cells: Int, rows: Int) -> Int { (cells + across - 1) / across * (rows + 1) }

    /// Creates a screen for `cells` pictures; returns `nil` if the terminal cannot show them.
    init?(terminal: Terminal, cells: Int) {
        self.terminal = terminal
        self.cells = cells
        let size = terminal.size
        let fitting = (size.columns + Self.gap) / Self.across - Self.gap
        guard terminal.showsColor, fitting >= Self.columns.lowerBound else { return nil }
        // As large as the table allows, with an aspect ratio of three to two.
        columns =
            Self.columns.reversed().first { columns in
                columns <= fitting && Self.lines(of: cells, rows: columns / 3) + Self.rowsBelow < size.rows
            } ?? Self.columns.lowerBound
        rows = max(9, columns / 3)
        guard size.rows > Self.lines(of: cells, rows: rows) + 1 else { return nil }
    }

    /// Makes room for the pictures.
    ///
    /// The cursor is hidden until `close`.
    func open() throws(FileError) {
        try terminal.write("\u{1B}[?25l" + String(repeating: "\n", count: height))
    }

    /// Draws `lines`, and `caption` below them, in the given cell.
    func draw(_ lines: [String], caption: String, cell: Int) throws(FileError) {
        let top = cell / Self.across * (rows + 1)
        let column = cell % Self.across * (columns + Self.gap) + 1
        var text = ""
        for (row, line) in lines.prefix(rows).enumerated() {
            text += at(top + row, column, line)
        }
        let cut = caption.fitting(columns)
        text += at(top + rows, column, cut + String(repeating: " ", count: columns - cut.count))
        try terminal.write(text)
    }

    /// Shows the cursor again.
    func close() { Self.showCursor(on: terminal) }

    /// Shows the cursor of a terminal, which a screen can have hidden, and ends its colors; does nothing to a file.
    static func showCursor(on terminal: Terminal) {
        if terminal.isInteractive { terminal.tell("\u{1B}[0m\u{1B}[?25h") }
    }

    /// Returns `text` placed in a row counted from the top of the screen, with the cursor returned below the screen.
    private func at(_ row: Int, _ column: Int, _ text: String) -> String {
        "\u{1B}[\(height - row)A\u{1B}[\(column)G\(text)\u{1B}[\(height - row)B\r"
    }
}
