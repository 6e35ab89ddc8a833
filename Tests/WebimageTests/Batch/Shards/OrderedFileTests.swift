import Foundation
import Hashing
import TestSupport
import Testing

@testable import webimage

struct OrderedFileTests {
    /// Returns the bytes of a file of pieces that are added in the given order of rows, after comparing its digest.
    private func file(ofRows rows: [Int], isSorted: Bool, among standing: [Int]? = nil, tableLength: Int = 100) throws
        -> String
    {
        try withTemporaryFolder { folder in
            let path = "\(folder)/rows"
            let ordered = try OrderedFile(
                path: path, isSorted: isSorted, standing: standing.map { Standing($0) }, tableLength: tableLength)
            for row in rows { try ordered.append(Array("<\(row)>".utf8), row: row) }
            let complete = try ordered.ordered(end: Array(".".utf8))
            try complete.file.place()
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            var digest = try MessageDigest(.sha256)
            digest.update(bytes)
            #expect(complete.sha256 == (try digest.finish().hexadecimal))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).contains("rows"))
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test(arguments: [[0, 1, 4], [4, 0, 1], [1, 0, 4], [0, 4, 1]])
    func piecesAreWrittenInTheOrderOfTheirRows(rows: [Int]) throws {
        #expect(try file(ofRows: rows, isSorted: true) == "<0><1><4>.")
        // With most positions on disk.
        #expect(try file(ofRows: rows, isSorted: true, tableLength: 1) == "<0><1><4>.")
    }

    /// Pieces of an earlier version of a file.
    private final class Standing: StandingPieces {
        private var rows: [Int]

        init(_ rows: [Int]) { self.rows = rows }

        func next() -> (row: Int, bytes: [UInt8])? {
            guard !rows.isEmpty else { return nil }
            let row = rows.removeFirst()
            return (row, Array("[\(row)]".utf8))
        }
    }

    @Test(arguments: [
        ([2, 3], "[0][1]<2><3>[5]."), ([3, 2], "[0][1]<2><3>[5]."), ([9], "[0][1][5]<9>."), ([], "[0][1][5]."),
    ])
    func newPiecesAreMergedWithStandingPieces(rows: [Int], expected: String) throws {
        #expect(try file(ofRows: rows, isSorted: true, among: [0, 1, 5]) == expected)
    }

    @Test func unsortedPiecesFollowStandingPieces() throws {
        #expect(try file(ofRows: [4, 3], isSorted: false, among: [7, 0]) == "[7][0]<4><3>.")
        #expect(try file(ofRows: [], isSorted: false, among: [7]) == "[7].")
    }

    @Test func unsortedPiecesRemainInTheOrderInWhichTheyWereAdded() throws {
        #expect(try file(ofRows: [4, 0, 1], isSorted: false) == "<4><0><1>.")
    }

    @Test(arguments: [true, false])
    func fileWithoutPiecesHasOnlyItsEnd(isSorted: Bool) throws {
        #expect(try file(ofRows: [], isSorted: isSorted) == ".")
    }
}
