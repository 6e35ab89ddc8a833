import AsyncWebImage
import Foundation
import TestSupport
import Testing
import WebimageConsole

@testable import webimage

/// The log of a stream of the form `tar`.
@Suite(.timeLimit(.minutes(1)))
struct RecordLogTests {
    private func answer(_ index: Int, url: String = "u") -> LineProcessor.Answer {
        var entry = ListEntry(index: index, line: RawLine())
        entry.url = url
        var record = BatchRecord(entry: entry)
        record.failure = BatchFailure(.badLine, "")
        return LineProcessor.Answer(record: record)
    }

    /// Returns the numbers of the lines in a log.
    private func indexes(_ log: String) throws -> [Int] {
        try log.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(object?["index"] as? Int)
        }
    }

    @Test func logOfAnOrderedStreamIsInTheOrderOfTheList() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let output = open("/dev/null", O_WRONLY)
            let file = open(folder + "/log", O_WRONLY | O_CREAT, 0o600)
            defer {
                close(output)
                close(file)
            }
            let window = LineWindow(limit: 10)
            let stream = RecordStream(
                .tar(SampleKeys(samplesPerShard: 10)), columns: BatchRecord.Columns(),
                to: StreamWriter(descriptor: output, named: "output"),
                log: StreamWriter(descriptor: file, named: "log"), window: window,
                room: Allowance<Int>(limit: 1 << 20, next: 0),
                placesInOrder: ConversionPlaces(limit: 4, isOrdered: true))
            for index in [2, 0, 3, 1] {
                #expect(await window.enter())
                try await stream.deliver(answer(index))
            }
            try await stream.finish(BatchStatistics(), isComplete: true)
            #expect(try indexes(String(contentsOfFile: folder + "/log", encoding: .utf8)) == [0, 1, 2, 3])
            #expect(window.open == 0)
        }
    }

    /// Otherwise the records that wait for the reader of a log would fill the memory.
    @Test func lineIsOpenUntilItsRecordIsInTheLog() async throws {
        var pipe: [Int32] = [-1, -1]
        #expect(Foundation.pipe(&pipe) == 0)
        let output = open("/dev/null", O_WRONLY)
        defer { for descriptor in pipe + [output] { close(descriptor) } }
        let window = LineWindow(limit: 10)
        let writer = StreamWriter(descriptor: output, named: "output")
        let stream = RecordStream(
            .tar(SampleKeys(samplesPerShard: 10)), columns: BatchRecord.Columns(), to: writer,
            log: StreamWriter(descriptor: pipe[1], named: "log"), window: window,
            room: Allowance<Int>(limit: 1 << 20))
        #expect(await window.enter())
        // Longer than what a pipe holds.
        try await stream.deliver(answer(7, url: String(repeating: "u", count: 1 << 20)))
        try await writer.finish()
        #expect(window.open == 1)
        var log: [UInt8] = []
        while log.last != UInt8(ascii: "\n") {
            log += try FileDescriptor.read(1 << 16, from: pipe[0], named: "log")
        }
        try await stream.finish(BatchStatistics(), isComplete: true)
        #expect(try indexes(String(decoding: log, as: UTF8.self)) == [7])
        #expect(window.open == 0)
    }
}
