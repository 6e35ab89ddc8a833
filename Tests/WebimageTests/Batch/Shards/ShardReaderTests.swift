import Hashing
import Testing

@testable import webimage

struct ShardReaderTests {
    /// Returns the input of a shard that has these lines, which have these indices in the list, or follow each other.
    private func input(
        _ lines: [String], header: String? = nil, at indices: [Int]? = nil
    ) throws -> ShardMarker.Input {
        let marker = ShardMarker(input: ShardMarker.Input(first: 0, count: 0, sha256: ""), optionsDigest: "")
        let reader = try ShardReader(0, first: 0, use: .check(marker))
        for (row, text) in lines.enumerated() {
            var line = RawLine()
            line.append(Array(text.utf8)[...])
            var entry = ListEntry(urlLine: line, index: indices?[row] ?? row)
            entry.header = header.map { Array($0.utf8) }
            _ = reader.add(entry, row: row)
        }
        return try reader.input()
    }

    private func digest(_ text: String) throws -> String {
        var digest = try MessageDigest(.sha256)
        digest.update(Array(text.utf8))
        return try digest.finish().hexadecimal
    }

    @Test func inputIsTheLines() throws {
        let expected = ShardMarker.Input(first: 0, count: 2, sha256: try digest("a,b\nc,d\n"))
        #expect(try input(["a,b", "c,d"]) == expected)
    }

    @Test func headerPrecedesTheLinesOnce() throws {
        let expected = ShardMarker.Input(first: 0, count: 2, sha256: try digest("url,other\na,b\nc,d\n"))
        #expect(try input(["a,b", "c,d"], header: "url,other") == expected)
    }

    /// Records have the indices of their lines, which a line of another host in between changes.
    @Test func inputDependsOnThePlacesOfLinesLeftOut() throws {
        let places = [[0, 1, 2], [0, 2, 3], [0, 1, 3], [0, 3, 4]]
        let inputs = try places.map { try input(["a", "b", "c"], at: $0) }
        #expect(Set(inputs.map(\.sha256)).count == places.count)
        #expect(inputs.allSatisfy { $0.count == 3 })
    }
}
