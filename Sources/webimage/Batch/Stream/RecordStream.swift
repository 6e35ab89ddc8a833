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
    private struct Pieces: Sendable {
        var stream: StreamWriter.Piece
        /// The record for the log; `nil` if there is none.
        var log: StreamWriter.Piece?
    }

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
        try await writer.write(StreamWriter.Piece(head: object.bytes + [UInt8(ascii: "\n")]))
    }

    /// Writes an answer, and returns when it is written: a reader that is slow delays further lines, instead of
    /// collecting records in memory.
    func deliver(_ answer: LineProcessor.Answer) async throws(FileError) {
        let pieces = pieces(for: answer)
        if let piece = pieces.log { try await log?.write(piece) }
        try await writer.write(pieces.stream)
    }

    func finish(_ statistics: BatchStatistics, isComplete: Bool) async throws(FileError) {
        guard isComplete else { return }
        switch form {
        case .frames:
            var object = JSONObject()
            object.add("end", true)
            statistics.addCounts(to: &object)
            try await writer.write(StreamWriter.Piece(head: object.bytes + [UInt8(ascii: "\n")]))
        case .tar: try await writer.write(StreamWriter.Piece(head: TarArchive.end))
        case .ndjson: break
        }
    }

    private func pieces(for answer: LineProcessor.Answer) -> Pieces {
        switch form {
        case .frames:
            var object = answer.record.object(columns)
            object.add("payload", answer.file.count)
            return Pieces(stream: StreamWriter.Piece(head: object.bytes + [UInt8(ascii: "\n")], body: answer.file))
        case .ndjson(let hasPayload):
            var object = answer.record.object(columns)
            if hasPayload {
                let isEmpty = answer.file.isEmpty
                object.add("payload", raw: isEmpty ? nil : Base64.text(of: answer.file))
            }
            return Pieces(stream: StreamWriter.Piece(head: object.bytes + [UInt8(ascii: "\n")]))
        case .tar(let keys):
            var answer = answer
            let index = answer.record.entry.index
            let key = keys.key(shard: index / keys.samplesPerShard, row: index % keys.samplesPerShard)
            answer.record.key = key
            var pieces = Pieces(stream: StreamWriter.Piece(head: []))
            if log != nil {
                pieces.log = StreamWriter.Piece(head: answer.record.object(columns).bytes + [UInt8(ascii: "\n")])
            }
            guard answer.record.failure == nil else { return pieces }
            var sampleColumns = columns
            sampleColumns.passesOn = true
            pieces.stream = StreamWriter.Piece(head: BatchSample(answer, key: key, columns: sampleColumns).tar)
            return pieces
        }
    }
}
