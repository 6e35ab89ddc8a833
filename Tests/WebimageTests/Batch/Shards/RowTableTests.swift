import Foundation
import TestSupport
import Testing

@testable import webimage

struct RowTableTests {
    private func extents(_ table: RowTable) throws -> [RowTable.Extent] {
        var extents: [RowTable.Extent] = []
        while let extent = try table.next() { extents.append(extent) }
        return extents
    }

    /// With a length of 0, all extents are in a file.
    @Test(arguments: [0, 1, 100, 20_000]) func piecesAreReturnedInTheOrderOfTheirRows(length: Int) throws {
        try withTemporaryFolder { folder in
            let table = RowTable(path: folder + "/table", longest: length)
            // Beyond a block of the file, with gaps.
            let rows = (0..<6_000).map { $0 * 7_919 % 12_000 }
            for row in rows { try table.set(RowTable.Extent(row: row, offset: row << 33 | 5, count: row + 1)) }
            let expected = rows.sorted().map { RowTable.Extent(row: $0, offset: $0 << 33 | 5, count: $0 + 1) }
            #expect(try extents(table) == expected)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    @Test(arguments: [0, 10]) func emptyTableHasNoPieces(length: Int) throws {
        try withTemporaryFolder { folder in
            let found = try extents(RowTable(path: folder + "/table", longest: length))
            #expect(found == [])
        }
    }
}
