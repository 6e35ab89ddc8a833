/// Rows of text in aligned columns, the first to the left and the others to the right.
struct Table {
    private var rows: [[String]]

    init(heading: [String]) {
        rows = [heading]
    }

    mutating func add(_ row: [String]) {
        rows.append(row)
    }

    var lines: [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + padding : padding + row[column]
            }
            .joined(separator: "  ")
        }
    }
}
