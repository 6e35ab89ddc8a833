import Foundation
import TestSupport
import Testing

@testable import webimage

/// The records of CSV, against a reader that takes its time.
@Suite(.timeLimit(.minutes(2)))
struct LineReaderTests {
    private func records(_ list: [UInt8]) async throws -> [RawLine] {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/list"
            try Data(list).write(to: URL(fileURLWithPath: path))
            let reader = try LineReader(path: path)
            reader.joinQuotedLines(separator: UInt8(ascii: ","))
            var lines: [RawLine] = []
            while let line = try await reader.next() { lines.append(line) }
            return lines
        }
    }

    private func values(_ record: RawLine) -> [String]? {
        CSVRecord.values(of: record.bytes, separator: UInt8(ascii: ","))?.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the fields of one record, or `nil` if it is not complete: a mark at the beginning of a field opens it, the
    /// next one that is not doubled closes it, and all others are characters.
    private func referenceFields(_ record: Substring) -> [String]? {
        var fields: [String] = []
        var rest = Array(record.unicodeScalars)[...]
        while true {
            var field = String.UnicodeScalarView()
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while true {
                    guard let next = rest.popFirst() else { return nil }
                    if next != "\"" {
                        field.append(next)
                    } else if rest.first == "\"" {
                        field.append(next)
                        rest = rest.dropFirst()
                    } else {
                        break
                    }
                }
            }
            while let next = rest.first, next != "," {
                if next == "\n" { return nil }
                field.append(next)
                rest = rest.dropFirst()
            }
            fields.append(String(field))
            guard rest.popFirst() != nil else { return fields }
        }
    }

    /// Returns the fields of each record, or `nil` for a line that is none.
    private func reference(_ text: String) -> [[String]?] {
        func withoutReturn(_ record: Substring.UnicodeScalarView) -> Substring {
            Substring(record.last == "\r" ? record.dropLast() : record)
        }
        var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)[...]
        if lines.last?.isEmpty == true { lines = lines.dropLast() }
        var records: [[String]?] = []
        while let first = lines.first {
            let ends = (lines.startIndex..<lines.endIndex).lazy.map { end in
                (end, text.unicodeScalars[first.startIndex..<lines[end].endIndex])
            }
            var found: (Int, [String])?
            for (end, record) in ends {
                // The return in front of a line break within quotes belongs to the field.
                if let fields = referenceFields(withoutReturn(record)) {
                    found = (end, fields)
                    break
                }
            }
            records.append(found?.1)
            lines = lines[((found?.0 ?? lines.startIndex) + 1)...]
        }
        return records
    }

    @Test func recordsOfRandomTextsAreThoseOfASlowReader() async throws {
        var generator = SplitMix(seed: 47)
        let pieces = ["\"", "\"\"", ",", "\n", "\r\n", "a", "é", "\",\"", "\n\""]
        for _ in 0..<1_500 {
            let text = (0..<Int.random(in: 0...24, using: &generator))
                .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)] }.joined()
            #expect(try await records(Array(text.utf8)).map(values) == reference(text), "\(text.debugDescription)")
        }
    }

    @Test func recordsMayCrossBlocks() async throws {
        let text = (0..<5_000).map { "\($0),\"a \"\"b\"\"\n\r\n,\($0)\"\r\n" }.joined()
        let records = try await records(Array(text.utf8))
        #expect(records.map(values) == (0..<5_000).map { ["\($0)", "a \"b\"\n\r\n,\($0)"] })
    }

    @Test func fieldThatIsTooLongIsOneLine() async throws {
        let line = "x,y,z\n"
        let lines = String(repeating: line, count: 2 * RawLine.longest / line.utf8.count)
        let records = try await records(Array("a,\"b\n\(lines)c,\"d\n".utf8))
        #expect(records.count == 2 + lines.utf8.count / line.utf8.count)
        #expect([records.first, records.last].allSatisfy { $0.map(values) == .some(nil) })
        #expect(records.dropFirst().dropLast().allSatisfy { values($0) == ["x", "y", "z"] })
    }

    /// Each of these lines begins a field that does not end, and continues one of another line.
    @Test func manyStrayMarksTakeLinearTime() async throws {
        let line = "a\"b,\"c\n"
        let count = 400_000
        let records = try await records(Array(String(repeating: line, count: count).utf8))
        #expect(records.count == count)
        #expect(records.allSatisfy { values($0) == nil })
    }
}
