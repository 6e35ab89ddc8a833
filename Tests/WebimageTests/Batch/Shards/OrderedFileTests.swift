import Digests
import Foundation
import Hashing
import TestSupport
import Testing

@testable import webimage

struct OrderedFileTests {
    /// Returns the bytes of a file of pieces that are added in the given order of rows, after comparing its digest.
    private func file(ofRows rows: [Int], isSorted: Bool) throws -> String {
        try withTemporaryFolder { folder in
            let path = "\(folder)/rows"
            let ordered = try OrderedFile(path: path, isSorted: isSorted)
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
    }

    @Test func unsortedPiecesRemainInTheOrderInWhichTheyWereAdded() throws {
        #expect(try file(ofRows: [4, 0, 1], isSorted: false) == "<4><0><1>.")
    }

    @Test(arguments: [true, false])
    func fileWithoutPiecesHasOnlyItsEnd(isSorted: Bool) throws {
        #expect(try file(ofRows: [], isSorted: isSorted) == ".")
    }
}
