import Foundation
import TestSupport
import Testing

@testable import webimage

struct PieceTableTests {
    private func pieces(_ table: PieceTable) throws -> [PieceTable.Piece] {
        var pieces: [PieceTable.Piece] = []
        while let piece = try table.next() { pieces.append(piece) }
        return pieces
    }

    /// With a length of 0, all pieces are in a file.
    @Test(arguments: [0, 1, 100, 20_000]) func piecesAreReturnedInTheOrderOfTheirRows(length: Int) throws {
        try withTemporaryFolder { folder in
            let table = PieceTable(path: folder + "/table", longest: length)
            // Beyond a block of the file, with gaps.
            let rows = (0..<6_000).map { $0 * 7_919 % 12_000 }
            for row in rows { try table.set(PieceTable.Piece(row: row, offset: row << 33 | 5, count: row + 1)) }
            let expected = rows.sorted().map { PieceTable.Piece(row: $0, offset: $0 << 33 | 5, count: $0 + 1) }
            #expect(try pieces(table) == expected)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    @Test(arguments: [0, 10]) func emptyTableHasNoPieces(length: Int) throws {
        try withTemporaryFolder { folder in
            let found = try pieces(PieceTable(path: folder + "/table", longest: length))
            #expect(found == [])
        }
    }
}
