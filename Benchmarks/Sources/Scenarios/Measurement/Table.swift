/// Rows as text for a terminal: a block for every heading, engines on the left, figures on the right.
struct Table {
    /// The width of a terminal, to which failures are truncated.
    static let width = 80

    private let columns: [Column]
    private let rows: [Row]

    init(_ rows: [Row], columns: [Column]) {
        self.rows = rows
        self.columns = columns
    }

    var lines: [String] {
        let blocks = blocks
        let cells = rows.map { row in [Self.indented(row.subject.engine)] + columns.map { $0.text(of: row) } }
        let headings = blocks.map { [$0.heading] + columns.map(\.heading) }
        let widths = (0...columns.count).map { column in (cells + headings).map { $0[column].count }.max() ?? 0 }
        return zip(blocks, headings)
            .flatMap { block, heading in
                [Self.line(heading, widths)] + block.rows.flatMap { lines(of: rows[$0], cells[$0], widths) } + [""]
            }
    }

    /// The indices of the rows by heading, in order of first appearance.
    private var blocks: [(heading: String, rows: [Int])] {
        var blocks: [(heading: String, rows: [Int])] = []
        for (index, row) in rows.enumerated() {
            if let block = blocks.firstIndex(where: { $0.heading == row.subject.heading }) {
                blocks[block].rows.append(index)
            } else {
                blocks.append((row.subject.heading, [index]))
            }
        }
        return blocks
    }

    private func lines(of row: Row, _ cells: [String], _ widths: [Int]) -> [String] {
        guard let failure = row.failure else { return [Self.line(cells, widths)] }
        let note =
            row.repetitions > 0
            ? [Self.line(cells, widths), "    failed at times: \(failure)"] : ["\(cells[0])  failed: \(failure)"]
        return note.map { String($0.prefix(Self.width)) }
    }

    private static func indented(_ text: String) -> String { "  " + text }

    /// Returns a line with the first cell aligned to the left and the others to the right.
    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        zip(cells, widths).enumerated()
            .map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + padding : padding + cell.0
            }
            .joined(separator: " ")
    }
}
