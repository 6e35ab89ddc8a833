import Hashing
import WebimageConsole

/// The answers as a stream for a program that processes them during the run.
final class RecordStream: BatchOutput {
    /// The forms of a stream.
    enum Form: Sendable, Equatable {
        /// Lines of JSON, each followed by the file of its record.
        case frames
        /// Lines of JSON; with the files in base64, if they are included.
        case ndjson(hasPayload: Bool)
        /// A tar archive with the image, the record, and the caption, if there is one, of each successful line.
        case tar(SampleKeys)
    }

    /// The parts of an answer for the destinations.
    private struct Blocks: Sendable {
        var stream: StreamWriter.Block
        /// The record for the log; `nil` if there is none.
        var log: StreamWriter.Block?
    }

    /// The names of the members of its lines that are not those of records.
    static let additionalNames = ["payload", "start", "end"]

    private let form: Form
    private let columns: BatchRecord.Columns
    private let writer: StreamWriter
    /// The destination of the records of an archive.
    private let log: StreamWriter?

    init(_ form: Form, columns: BatchRecord.Columns, to writer: StreamWriter, log: StreamWriter? = nil) {
        self.form = form
        self.columns = columns
        self.writer = writer
        self.log = log
    }

    /// Writes the first line, which tells the version of the protocol.
    func begin(version: String, optionsDigest: String) async throws(FileError) {
        guard form == .frames else { return }
        var object = JSONObject()
        object.add("start", true)
        object.add("protocol", 1)
        object.add("version", version)
        object.add("options_sha256", optionsDigest)
        try await writer.write(StreamWriter.Block(head: object.bytes + [UInt8(ascii: "\n")]))
    }

    /// Writes an answer, and returns when it is written: a reader that is slow delays further lines, instead of
    /// collecting records in memory.
    func deliver(_ answer: LineProcessor.Answer) async throws(FileError) {
        let blocks = blocks(for: answer)
        if let block = blocks.log { try await log?.write(block) }
        try await writer.write(blocks.stream)
    }

    func finish(_ statistics: BatchStatistics, isComplete: Bool) async throws(FileError) {
        guard isComplete else { return }
        switch form {
        case .frames:
            var object = JSONObject()
            object.add("end", true)
            statistics.addCounts(to: &object)
            try await writer.write(StreamWriter.Block(head: object.bytes + [UInt8(ascii: "\n")]))
        case .tar: try await writer.write(StreamWriter.Block(head: TarArchive.end))
        case .ndjson: break
        }
    }

    private func blocks(for answer: LineProcessor.Answer) -> Blocks {
        switch form {
        case .frames:
            var object = answer.record.object(columns)
            object.add("payload", answer.file.count)
            return Blocks(stream: StreamWriter.Block(head: object.bytes + [UInt8(ascii: "\n")], body: answer.file))
        case .ndjson(let hasPayload):
            var object = answer.record.object(columns)
            if hasPayload {
                let isEmpty = answer.file.isEmpty
                object.add("payload", raw: isEmpty ? nil : Base64.text(of: answer.file))
            }
            return Blocks(stream: StreamWriter.Block(head: object.bytes + [UInt8(ascii: "\n")]))
        case .tar(let keys):
            var answer = answer
            let index = answer.record.entry.index
            let key = keys.key(shard: index / keys.samplesPerShard, row: index % keys.samplesPerShard)
            answer.record.key = key
            var blocks = Blocks(stream: StreamWriter.Block(head: []))
            if log != nil {
                blocks.log = StreamWriter.Block(head: answer.record.object(columns).bytes + [UInt8(ascii: "\n")])
            }
            guard answer.record.failure == nil else { return blocks }
            var sampleColumns = columns
            sampleColumns.passesOn = true
            blocks.stream = StreamWriter.Block(head: BatchSample(answer, key: key, columns: sampleColumns).tar)
            return blocks
        }
    }
}
