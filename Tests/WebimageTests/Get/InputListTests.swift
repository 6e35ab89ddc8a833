import Foundation
import Testing

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct InputListTests {
    private func lines(of text: String) async throws -> [String] {
        try await withTemporaryFolder { folder in
            let path = folder + "/list"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let list = try InputList(path: path)
            var lines: [String] = []
            while let line = try await list.next() { lines.append(line) }
            return lines
        }
    }

    @Test func leavesOutBlanksAndComments() async throws {
        #expect(try await lines(of: "\n  a \r\n#b\n\t# c\n\n d e\nf") == ["a", "d e", "f"])
        #expect(try await lines(of: "") == [])
    }

    @Test func linesMayCrossBlocks() async throws {
        let expected = (0..<20_000).map { "https://example.com/\($0).jpg" }
        #expect(try await lines(of: expected.joined(separator: "\n") + "\n") == expected)
    }

    @Test func endlessLinesAreCut() async throws {
        let lines = try await lines(of: String(repeating: "x", count: 1_000_000) + "\ny\n")
        #expect(lines.map(\.utf8.count) == [InputList.longestLine, 1])
    }

    @Test func saysWhichListIsMissing() {
        #expect(throws: FileError(description: "cannot read /nowhere/list: No such file or directory")) {
            try InputList(path: "/nowhere/list")
        }
    }

    @Test func waitingForASlowPipeCanBeCancelled() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/pipe"
            try #require(mkfifo(path, 0o600) == 0)
            let writer = open(path, O_RDWR)
            defer { close(writer) }
            let list = try InputList(path: path)
            _ = write(writer, "a\n", 2)
            #expect(try await list.next() == "a")

            let next = Task { try await list.next() }
            next.cancel()
            #expect(try await next.value == nil)
        }
    }
}
