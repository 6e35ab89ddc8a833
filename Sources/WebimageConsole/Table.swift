/// Rows of text in aligned columns: the first is left-aligned, the others right-aligned.
package struct Table: Sendable {
    private var rows: [[String]]

    package init(heading: [String]) {
        rows = [heading]
    }

    package mutating func add(_ row: [String]) {
        rows.append(row)
    }

    package var lines: [String] {
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
