import ArgumentParser
import CZlib
import Foundation
import Hashing
import TestSupport
import Testing
import WebimageConsole

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct BatchListTests {
    private func entries(
        _ list: [UInt8], named name: String = "list", format: ListFormat? = nil, columns: ListColumns = ListColumns(),
        passesOn: Bool = true
    ) async throws -> [ListEntry] {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/\(name)"
            try Data(list).write(to: URL(fileURLWithPath: path))
            let list = try BatchList(
                path: path, format: format, columns: columns, for: BatchList.Purpose(passesOn: passesOn))
            var entries: [ListEntry] = []
            while let entry = try await list.next() { entries.append(entry) }
            return entries
        }
    }

    private func entries(_ text: String, named name: String = "list", columns: ListColumns = ListColumns()) async throws
        -> [ListEntry]
    {
        try await entries(Array(text.utf8), named: name, columns: columns)
    }

    private func id(_ entry: ListEntry) -> String { String(decoding: entry.id, as: UTF8.self) }

    @Test func everyLineThatIsNeitherBlankNorACommentHasAnEntry() async throws {
        let entries = try await entries("\u{FEFF}a\n\n \t\r\n#b\r\n \t# c\r\nb#\n  c d \n\u{FF00}", named: "list.txt")
        #expect(entries.map(\.url) == ["a", "b#", "c d", "\u{FF00}"])
        #expect(entries.map(\.writtenURL) == ["a", "b#", "  c d ", "\u{FF00}"])
        #expect(entries.map(\.index) == [0, 1, 2, 3])
        #expect(entries.map(id) == ["0", "1", "2", "3"])
    }

    @Test(arguments: ["7", "-1.50e3", #""é\u00e9\"""#, "null", "true", "123456789012345678901234567890"])
    func identifiersAreKeptByteForByte(identifier: String) async throws {
        let entries = try await entries(#"{"url":"u", "id" : \#(identifier) }"#, named: "list.jsonl")
        #expect(entries.map(id) == [identifier])
        #expect(entries.first?.problem == nil)
    }

    @Test(arguments: [
        ("nonsense", "the line is not a JSON object"), ("[1]", "the line is not a JSON object"),
        (#"{"id":1}"#, "the line has no member url"), (#"{"url":1}"#, "the member url is not a string"),
        (#"{"url":"a","id":[1]}"#, "the member id is neither a string nor a number"),
        (#"{"url":"a","x":1,"x":2}"#, "the member x occurs twice"),
    ])
    func badLinesHaveAnEntryWithTheReason(line: String, problem: String) async throws {
        let entries = try await entries("\(line)\n{\"url\":\"good\"}", named: "list.ndjson")
        #expect(entries.map(\.problem) == [problem, nil])
    }

    @Test func linesThatCannotBeReadHaveAnEntry() async throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: RawLine.longest)
        let entries = try await entries(long + Array("\n".utf8) + long + Array("y\n".utf8) + [0xFF, 0x0A, 0x7A])
        #expect(entries.map(\.problem) == [nil, "the line is longer than 1048576 bytes", "the line is not UTF-8", nil])
        #expect(entries.map(\.url?.count) == [RawLine.longest, nil, nil, 1])
        #expect(entries[1].line.count == RawLine.longest + 1)
    }

    @Test(arguments: [" u", "u ", "\t u\t", "u\r", "u\u{A0}", "\u{200B}u", "\u{FEFF}u\u{3000}"])
    func urlsAreTrimmedInEveryList(written: String) async throws {
        let json = JSONObject.quoted(written)
        let lists: [(String, [UInt8])] = [
            ("l.txt", Array("x\n\(written)\n".utf8)), ("l.csv", Array("url,id\nx,0\n\"\(written)\",1\n".utf8)),
            ("l.jsonl", Array("{\"url\":\"x\"}\n{\"url\":".utf8) + json + Array("}\n".utf8)),
        ]
        for (name, list) in lists {
            let entry = try #require(try await entries(list, named: name).last)
            #expect(entry.url == "u", "\(name)")
            // The end of the line of a text cannot be told from the return in front of it.
            #expect(entry.writtenURL == written || name == "l.txt" && written == "u\r", "\(name)")
        }
        if !written.contains("\t") {
            #expect(try await entries("url\tid\n\(written)\t1\n", named: "l.tsv").first?.url == "u")
        }
    }

    @Test func strayMarkConcernsNoOtherLine() async throws {
        let lines = (0..<20_000).map {
            "http://a/\($0),\($0 == 2 ? "\"" : "")caption \($0) of a dog on a beach at sunset"
        }
        let csv = "url,text\n" + lines.joined(separator: "\n") + "\n"
        let entries = try await entries(csv, named: "list.csv")
        #expect(entries.count == 20_000)
        #expect(entries.filter { $0.problem != nil }.map(\.index) == [2])
        #expect(entries[2].problem == "a quoted field does not end")
        let tabs = try await self.entries(csv.replacing(",", with: "\t"), named: "list.tsv")
        #expect(tabs.count == 20_000 && tabs.allSatisfy { $0.problem == nil })
    }

    @Test func everyLineIsCounted() async throws {
        func counts(_ text: String, named name: String) async throws -> ListCounts {
            try await withTemporaryFolder { folder in
                let path = "\(folder)/\(name)"
                try Data(text.utf8).write(to: URL(fileURLWithPath: path))
                let list = try BatchList(path: path, for: BatchList.Purpose())
                var entries = 0
                while try await list.next() != nil { entries += 1 }
                let counts = await list.counts
                #expect(counts.lines == text.split(separator: "\n", omittingEmptySubsequences: false).count - 1)
                #expect(counts.lines == entries + counts.header + counts.blank + counts.comments + counts.continued)
                return counts
            }
        }
        let text = try await counts("a\n\n# b\n \nc\n", named: "l.txt")
        #expect(text == ListCounts(lines: 5, blank: 2, comments: 1))
        let csv = try await counts("\nurl,\"n\nm\"\na,\"1\n\n2\"\n#,\n\nb,\"\n", named: "l.csv")
        #expect(csv == ListCounts(lines: 9, header: 1, blank: 2, continued: 3))
    }

    @Test func otherJSONMembersArePassedOn() async throws {
        let line = #"{"score":1.0,"url":"u","t":"\u0061","text":"c"}"#
        let entries = try await entries(line, named: "a.jsonl", columns: ListColumns(caption: "text"))
        let columns = entries.first?.passedOn.map {
            String(decoding: $0.name + [UInt8(ascii: ":")] + $0.value, as: UTF8.self)
        }
        #expect(columns == [#""score":1.0"#, #""t":"\u0061""#])
        #expect(entries.first?.caption == "c")
    }

    @Test func csvColumnsAreSelectedByName() async throws {
        let text = "name,link,sum\r\n\"a\n\"\"1\"\"\",http://a/,00\r\n\r\nb,http://b/\r\nc,http://c/,\r\n"
        let columns = ListColumns(url: "link", id: "name", digest: "sum")
        let entries = try await entries(text, named: "list.csv", columns: columns)
        #expect(entries.map(\.url) == ["http://a/", nil, "http://c/"])
        #expect(entries.map(id) == [#""a\n\"1\"""#, "1", #""c""#])
        #expect(entries.map(\.digest) == ["00", nil, nil])
        #expect(entries.map(\.problem) == [nil, "the line has 2 values instead of 3", nil])
        #expect(entries.map(\.index) == [0, 1, 2])
        #expect(entries.allSatisfy { $0.header == Array("name,link,sum".utf8) })
    }

    @Test func tabsSeparateColumns() async throws {
        let entries = try await entries("url\tid\nhttp://a/\t1,2\n", named: "list.tsv")
        #expect(entries.map(\.url) == ["http://a/"])
        #expect(entries.map(id) == [#""1,2""#])
    }

    @Test(arguments: ["a,b\n", "url,url\n", "url,width\n", "\"url\n"])
    func headersThatCannotBeUsedEndTheRun(text: String) async throws {
        let columns = ListColumns(reserved: ["width"])
        await #expect(throws: UnusableList.self) {
            _ = try await entries(text + "x,y\n", named: "list.csv", columns: columns)
        }
    }

    @Test(arguments: [
        (ListColumns(url: "link"), "no column link: see --url-col"),
        (ListColumns(caption: "text"), "no column text: see --caption-col"),
        (ListColumns(digest: "chekcsum"), "no column chekcsum: see --verify-hash"),
    ])
    func headerHasTheColumnsThatOptionsName(columns: ListColumns, reason: String) async throws {
        for (name, header) in [("list.csv", "url,checksum"), ("list.tsv", "url\tchecksum")] {
            let error = await #expect(throws: UnusableList.self) {
                _ = try await entries(header + "\n", named: name, columns: columns)
            }
            #expect(error?.description.hasSuffix(reason) == true)
            #expect(error?.description.contains("url, checksum") == true)
        }
    }

    @Test func columnsWithDefaultNamesCanBeAbsent() async throws {
        let entries = try await entries("url\nx\n", named: "list.csv", columns: ListColumns(options: "options"))
        #expect(entries.map(\.url) == ["x"])
        #expect(entries.map(id) == ["0"])
        #expect(entries.map(\.problem) == [nil])
    }

    @Test(arguments: [
        (ListColumns(url: "link"), "no column link: see --url-col"),
        (ListColumns(id: "number"), "no column number: see --id-col"),
        (ListColumns(caption: "text"), "no column text: see --caption-col"),
        (ListColumns(digest: "sha256"), "no column sha256: see --verify-hash"),
    ])
    func listsWithoutColumnsHaveNoneThatOptionsName(columns: ListColumns, reason: String) async throws {
        for name in ["list.txt", "list"] {
            let error = await #expect(throws: UnusableList.self) {
                _ = try await entries("\nhttp://a/\n", named: name, columns: columns)
            }
            #expect(error?.description.hasSuffix(reason) == true)
            #expect(try await entries("\n", named: name, columns: columns).isEmpty)
        }
    }

    @Test func digestOfAnObjectIsATextOrNull() async throws {
        let values = ["7", "true", "[]", "{}", #""00""#, "null"]
        let lines = values.map { #"{"url":"a","sum":\#($0)}"# } + [#"{"url":"a"}"#]
        let entries = try await entries(
            lines.joined(separator: "\n"), named: "list.ndjson", columns: ListColumns(digest: "sum"))
        let problem = "the member sum is neither a string nor null"
        #expect(entries.map(\.problem) == [problem, problem, problem, problem, nil, nil, nil])
        #expect(entries.map(\.digest) == [nil, nil, nil, nil, "00", nil, nil])
    }

    @Test func digestOfTheHeadDependsOnTheHeader() async throws {
        try await withTemporaryFolder { folder in
            func digest(_ text: String, named name: String) async throws -> String {
                let path = "\(folder)/\(name)"
                try Data(text.utf8).write(to: URL(fileURLWithPath: path))
                let list = try BatchList(path: path, for: BatchList.Purpose())
                return try await list.headDigest()
            }
            let first = try await digest("url,other\na,b\n", named: "list.csv")
            #expect(try await digest("url,other\na,b\n", named: "same.csv") == first)
            #expect(try await digest("other,url\na,b\n", named: "list.csv") != first)
            var lines = try MessageDigest(.sha256)
            lines.update(Array("a\nb\n".utf8))
            let expected = try lines.finish().hexadecimal
            #expect(try await digest("a\nb\n", named: "list.txt") == expected)
        }
    }

    @Test func reservedMembersAreRejected() async throws {
        let columns = ListColumns(reserved: ["status", "sha256"])
        await #expect(throws: UnusableList.self) {
            _ = try await entries(#"{"url":"a","status":1}"#, named: "list.jsonl", columns: columns)
        }
        let later = try await entries(
            "{\"url\":\"a\"}\n{\"url\":\"b\",\"sha256\":1}", named: "list.jsonl", columns: columns)
        #expect(later.map(\.problem) == [nil, "the member sha256 is reserved"])
        let unused = try await entries(
            Array(#"{"url":"a","status":1}"#.utf8), named: "list.jsonl", columns: columns, passesOn: false)
        #expect(unused.map(\.problem) == [nil])
    }

    @Test func allMembersOfRecordsAreReserved() throws {
        let command = try BatchCommand.parse([
            "--input", "-", "--output", "-", "--echo", "--format", "jpeg", "--compute-phash", "--compute-thumbhash",
        ])
        // The members in the schema are those that occur.
        let documented = try DocumentedOutput("batch-record").schema.paths
        #expect(command.listColumns.reserved == documented.union(["start", "end"]))
    }

    @Test func progressFollowsTheEntriesNotTheBlocks() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/list.txt"
            try Data(String(repeating: "http://a/\n", count: 100).utf8).write(to: URL(fileURLWithPath: path))
            let list = try BatchList(path: path, for: BatchList.Purpose())
            for _ in 0..<25 { _ = try await list.next() }
            #expect(await list.progress == 0.25)
            while try await list.next() != nil {}
            #expect(await list.progress == 1)
            #expect(await list.count == 100)
        }
    }

    @Test func firstByteDecidesTheFormatOfOtherLists() async throws {
        #expect(try await entries(" {\"url\":\"a\"}\n").map(\.url) == ["a"])
        #expect(try await entries("http://a/\n{}\n").map(\.url) == ["http://a/", "{}"])
        #expect(try await entries("").isEmpty)
        #expect(try await entries("\n\n").isEmpty)
    }

    @Test func listsCanBeCompressed() async throws {
        let lines = (0..<30_000).map { "http://example.com/\($0 &* 2_654_435_761)" }
        let bytes = Array(lines.joined(separator: "\n").utf8)
        let middle = bytes.count / 2
        let members = try gzip(Array(bytes[..<middle])) + gzip([]) + gzip(Array(bytes[middle...]))
        #expect(try await entries(members, named: "list.txt.gz").compactMap(\.url) == lines)
        await #expect(throws: FileError.self) {
            _ = try await entries(Array(members.dropLast(9)), named: "list.txt.gz")
        }
        var corrupt = members
        corrupt[1_000] ^= 0xFF
        await #expect(throws: FileError.self) { _ = try await entries(corrupt, named: "list.txt.gz") }
    }

    /// Returns `bytes` as one member of gzip data.
    private func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        try #require(deflateInit2_(&stream, 6, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK)
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count + 1_000)
        let status = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                return deflate(&stream, Z_FINISH)
            }
        }
        try #require(status == Z_STREAM_END)
        return Array(output.prefix(Int(stream.total_out)))
    }
}
