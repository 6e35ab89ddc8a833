import Hashing
import Threading
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

    private struct Held {
        let places: ConversionPlaces
        var next = 0
        var answers: [Int: (piece: StreamWriter.Piece, reserved: Int)] = [:]
    }

    private let form: Form
    private let columns: BatchRecord.Columns
    private let writer: StreamWriter
    /// The destination of the records of an archive.
    private let log: StreamWriter?
    private let window: LineWindow
    private let room: Allowance<Int>
    /// The answers that wait for an earlier one, if the stream is in the order of the list.
    private let held: Locked<Held>?

    /// Creates a stream; in the order of the list if that applies to `placesInOrder`, the places of the lines.
    init(
        _ form: Form, columns: BatchRecord.Columns, to writer: StreamWriter, log: StreamWriter? = nil,
        window: LineWindow, room: Allowance<Int>, placesInOrder: ConversionPlaces? = nil
    ) {
        self.form = form
        self.columns = columns
        self.writer = writer
        self.log = log
        self.window = window
        self.room = room
        held = placesInOrder.map { Locked(Held(places: $0)) }
    }

    /// Writes the first line, which tells the version of the protocol.
    func begin(version: String, optionsDigest: String) {
        guard form == .frames else { return }
        var object = JSONObject()
        object.add("start", true)
        object.add("protocol", 1)
        object.add("version", version)
        object.add("options_sha256", optionsDigest)
        writer.append(StreamWriter.Piece(head: object.bytes + [UInt8(ascii: "\n")]))
    }

    func deliver(_ answer: LineProcessor.Answer) async throws(FileError) {
        var piece = piece(for: answer)
        let isOrdered = held != nil
        piece.whenDone = { [window, room, count = answer.reserved, length = answer.record.entry.line.bytes.count] in
            if isOrdered { room.finishDelivery(of: count) } else { room.release(count) }
            window.leave(bytes: length)
        }
        guard let held else { return writer.append(piece) }
        // Under the lock; otherwise two answers could be exchanged.
        held.withLock { held in
            held.answers[answer.record.entry.index] = (piece, answer.reserved)
            while let next = held.answers.removeValue(forKey: held.next) {
                held.next += 1
                room.deliver(next.reserved, before: held.next)
                held.places.deliver(before: held.next)
                writer.append(next.piece)
            }
        }
    }

    func finish(_ statistics: BatchStatistics, isComplete: Bool) async throws(FileError) {
        if isComplete { appendEnd(statistics) }
        try await writer.finish()
        try await log?.finish()
    }

    private func appendEnd(_ statistics: BatchStatistics) {
        switch form {
        case .frames:
            var object = JSONObject()
            object.add("end", true)
            statistics.addCounts(to: &object)
            writer.append(StreamWriter.Piece(head: object.bytes + [UInt8(ascii: "\n")]))
        case .tar: writer.append(StreamWriter.Piece(head: TarArchive.end))
        case .ndjson: break
        }
    }

    private func piece(for answer: LineProcessor.Answer) -> StreamWriter.Piece {
        switch form {
        case .frames:
            var object = answer.record.object(columns)
            object.add("payload", answer.file.count)
            return StreamWriter.Piece(head: object.bytes + [UInt8(ascii: "\n")], body: answer.file)
        case .ndjson(let hasPayload):
            var object = answer.record.object(columns)
            if hasPayload {
                let isEmpty = answer.file.isEmpty
                object.add("payload", raw: isEmpty ? nil : Base64.text(of: answer.file))
            }
            return StreamWriter.Piece(head: object.bytes + [UInt8(ascii: "\n")])
        case .tar(let keys):
            var answer = answer
            let index = answer.record.entry.index
            let key = keys.key(shard: index / keys.samplesPerShard, row: index % keys.samplesPerShard)
            answer.record.key = key
            log?.append(StreamWriter.Piece(head: answer.record.object(columns).bytes + [UInt8(ascii: "\n")]))
            guard answer.record.failure == nil else { return StreamWriter.Piece(head: []) }
            var sampleColumns = columns
            sampleColumns.passesOn = true
            return StreamWriter.Piece(head: BatchSample(answer, key: key, columns: sampleColumns).tar)
        }
    }
}
