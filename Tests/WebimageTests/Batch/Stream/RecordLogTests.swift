import AsyncWebImage
import Foundation
import TestSupport
import Testing
import Threading
import WebimageConsole

@testable import webimage

/// The log of a stream of the form `tar`.
@Suite(.timeLimit(.minutes(1)))
struct RecordLogTests {
    private func answer(_ index: Int, url: String = "u") -> LineProcessor.Answer {
        var entry = ListEntry(index: index, line: RawLine())
        entry.writtenURL = url
        var record = BatchRecord(entry: entry)
        record.failure = ImageFailure(.badLine, "")
        return LineProcessor.Answer(record: record)
    }

    /// Returns the numbers of the lines in a log.
    private func indexes(_ log: String) throws -> [Int] {
        try log.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(object?["index"] as? Int)
        }
    }

    /// Otherwise the records that wait for the reader of a log would fill the memory.
    @Test func answerIsDeliveredWhenItsRecordIsInTheLog() async throws {
        var pipe: [Int32] = [-1, -1]
        #expect(Foundation.pipe(&pipe) == 0)
        let output = open("/dev/null", O_WRONLY)
        defer { for descriptor in pipe + [output] { close(descriptor) } }
        let stream = RecordStream(
            .tar(SampleKeys(samplesPerShard: 10)), columns: BatchRecord.Columns(),
            to: try StreamWriter(descriptor: output, named: "output"),
            log: try StreamWriter(descriptor: pipe[1], named: "log"))
        let isDelivered = Locked(false)
        // Longer than what a pipe holds.
        let answer = answer(7, url: String(repeating: "u", count: 1 << 20))
        let delivery = Task {
            try await stream.deliver(answer)
            isDelivered.withLock { $0 = true }
        }
        var log: [UInt8] = []
        while log.last != UInt8(ascii: "\n") {
            #expect(!isDelivered.withLock { $0 })
            log += try FileDescriptor.read(1 << 16, from: pipe[0], named: "log")
        }
        try await delivery.value
        #expect(try indexes(String(decoding: log, as: UTF8.self)) == [7])
    }
}
