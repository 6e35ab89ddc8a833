/// A grid of pictures with captions, redrawn in place below whatever was on the terminal before.
struct DemoScreen {
    static let columns = 26
    static let rows = 9
    private static let across = 3
    private static let gap = 1

    private let terminal: Terminal
    private let cells: Int

    private var height: Int { (cells + Self.across - 1) / Self.across * (Self.rows + 1) }

    /// A screen for `cells` pictures, or nil if the terminal cannot show them.
    init?(terminal: Terminal, cells: Int) {
        self.terminal = terminal
        self.cells = cells
        let size = terminal.size
        let width = Self.across * (Self.columns + Self.gap) - Self.gap
        guard terminal.showsColor, size.columns >= width, size.rows > height + 1 else { return nil }
    }

    /// Makes room.
    ///
    /// The cursor is hidden until `close`.
    func open() throws(FileError) {
        try terminal.write("\u{1B}[?25l" + String(repeating: "\n", count: height))
    }

    /// Draws `lines` and below them `caption` in the cell of that number.
    func draw(_ lines: [String], caption: String, cell: Int) throws(FileError) {
        let top = cell / Self.across * (Self.rows + 1)
        let column = cell % Self.across * (Self.columns + Self.gap) + 1
        var text = ""
        for (row, line) in lines.prefix(Self.rows).enumerated() {
            text += at(top + row, column, line)
        }
        let cut = caption.fitting(Self.columns)
        text += at(top + Self.rows, column, cut + String(repeating: " ", count: Self.columns - cut.count))
        try terminal.write(text)
    }

    /// Shows the cursor again.
    func close() {
        try? terminal.write("\u{1B}[0m\u{1B}[?25h")
    }

    /// `text` in a row counted from the top of the screen, the cursor back below the screen.
    private func at(_ row: Int, _ column: Int, _ text: String) -> String {
        "\u{1B}[\(height - row)A\u{1B}[\(column)G\(text)\u{1B}[\(height - row)B\r"
    }
}
