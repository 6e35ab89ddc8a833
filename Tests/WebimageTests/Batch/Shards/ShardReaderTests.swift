import Digests
import Hashing
import Testing

@testable import webimage

struct ShardReaderTests {
    /// Returns the input of a shard that has these lines.
    private func input(_ lines: [String], header: String? = nil) throws -> ShardMarker.Input {
        let marker = ShardMarker(input: ShardMarker.Input(first: 0, count: 0, sha256: ""), optionsDigest: "")
        let reader = try ShardReader(0, first: 0, use: .check(marker))
        for (index, text) in lines.enumerated() {
            var line = RawLine()
            line.append(Array(text.utf8)[...])
            var entry = ListEntry(urlLine: line, index: index)
            entry.header = header.map { Array($0.utf8) }
            _ = reader.add(entry, row: index)
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
}
