import WebimageConsole
import Foundation
import Testing

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct InputListTests {
    private func sources(of list: [UInt8]) async throws -> [ImageSource] {
        try await withTemporaryFolder { folder in
            let path = folder + "/list"
            try Data(list).write(to: URL(fileURLWithPath: path))
            let list = try BatchList(path: path, for: BatchList.Purpose(reader: .get))
            var sources: [ImageSource] = []
            while let entry = try await list.next() { sources.append(ImageSource(entry)) }
            return sources
        }
    }

    private func lines(of text: String) async throws -> [String] {
        let sources = try await sources(of: Array(text.utf8))
        #expect(sources.allSatisfy { $0.isURL })
        return sources.map(\.text)
    }

    @Test func inputListSkipsBlankLinesAndComments() async throws {
        #expect(try await lines(of: "\n  a \r\n#b\n\t# c\n\n d e\nf") == ["a", "d e", "f"])
        #expect(try await lines(of: "") == [])
    }

    @Test func listLinesMayCrossBlocks() async throws {
        let expected = (0..<20_000).map { "https://example.com/\($0).jpg" }
        #expect(try await lines(of: expected.joined(separator: "\n") + "\n") == expected)
    }

    @Test(arguments: ["x", " "])
    func overlongLinesOfAListFail(character: String) async throws {
        let long = String(repeating: character, count: RawLine.longest) + "x"
        let sources = try await sources(of: Array("\(long)\n#\(long)\ny\n".utf8))
        let beginning = character == "x" ? String(repeating: "x", count: 100) : ""
        #expect(
            sources == [
                ImageSource(unusable: beginning + "...", reason: "the line is longer than 1048576 bytes"),
                ImageSource(listed: "y"),
            ])
    }

    @Test func longestAllowedListLineIsAccepted() async throws {
        let longest = String(repeating: "x", count: RawLine.longest)
        #expect(try await lines(of: longest + "\n" + longest) == [longest, longest])
        #expect(try await sources(of: Array((longest + "x").utf8)).map(\.isURL) == [false])
    }

    @Test func longBlankLinesAndCommentsAreSkipped() async throws {
        let long = String(repeating: " ", count: 1_000_000)
        #expect(try await lines(of: "\(long)\na\n\(long)# b\n\(long)\r\n\(long)") == ["a"])
        #expect(try await lines(of: "\u{FEFF}\(long)\na") == ["a"])
    }

    @Test func listLinesInOtherEncodingsFail() async throws {
        let latin1: [UInt8] = Array("http://example.com/caf".utf8) + [0xE9]
        let comment: [UInt8] = Array("# caf".utf8) + [0xE9]
        #expect(
            try await sources(of: comment + [0x0A] + latin1 + [0x0A] + Array("http://example.com/café".utf8)) == [
                ImageSource(unusable: "http://example.com/caf\u{FFFD}", reason: "the line is not UTF-8"),
                ImageSource(listed: "http://example.com/café"),
            ])
    }

    @Test func byteOrderMarkIsNotPartOfALine() async throws {
        #expect(try await lines(of: "\u{FEFF}a\nb") == ["a", "b"])
        #expect(try await lines(of: "\u{FEFF}# a\nb") == ["b"])
        #expect(try await lines(of: "\u{FEFF}") == [])
        let longest = String(repeating: "x", count: RawLine.longest)
        #expect(try await lines(of: "\u{FEFF}\(longest)\n\(longest)") == [longest, longest])
        for more in 1...4 {
            let tooLong = "\u{FEFF}" + longest + String(repeating: "x", count: more) + "\ny"
            #expect(try await sources(of: Array(tooLong.utf8)).map(\.isURL) == [false, true])
        }
    }

    @Test func errorForAMissingInputListNamesItsPath() {
        #expect(throws: FileError("read", "/nowhere/list", code: ENOENT)) {
            try BatchList(path: "/nowhere/list", for: BatchList.Purpose())
        }
    }

    @Test func waitingForASlowPipeCanBeCanceled() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/pipe"
            try #require(mkfifo(path, 0o600) == 0)
            let writer = open(path, O_RDWR)
            defer { close(writer) }
            let list = try BatchList(path: path, for: BatchList.Purpose(requiresEntries: true))
            _ = write(writer, "a\n", 2)
            #expect(try await list.next()?.url == "a")

            let next = Task { try await list.next() }
            next.cancel()
            #expect(try await next.value == nil)
        }
    }
}
