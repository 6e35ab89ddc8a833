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

    /// The parts of an answer for the destinations.
    private struct Pieces: Sendable {
        var stream: StreamWriter.Piece
        /// The record for the log; `nil` if there is none.
        var log: StreamWriter.Piece?
    }

    private struct Held {
        let places: ConversionPlaces
        var next = 0
        var answers: [Int: (pieces: Pieces, reserved: Int)] = [:]
    }

    private let form: Form
    private let columns: BatchRecord.Columns
    private let writer: StreamWriter
    /// The destination of the records of an archive.
    private let log: StreamWriter?
    private let window: LineWindow
    private let room: Allowance<Int>
    /// The answers that wait for an earlier one, if the stream and the log are in the order of the list.
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
        var pieces = pieces(for: answer)
        let isOrdered = held != nil
        let leave = leaving(bytes: answer.record.entry.line.bytes.count, pieceCount: pieces.log == nil ? 1 : 2)
        pieces.stream.whenDone = { [room, count = answer.reserved] in
            if isOrdered { room.finishDelivery(of: count) } else { room.release(count) }
            leave()
        }
        pieces.log?.whenDone = leave
        guard let held else { return append(pieces) }
        // Under the lock; otherwise two answers could be exchanged.
        held.withLock { held in
            held.answers[answer.record.entry.index] = (pieces, answer.reserved)
            while let next = held.answers.removeValue(forKey: held.next) {
                held.next += 1
                room.deliver(next.reserved, before: held.next)
                held.places.deliver(before: held.next)
                append(next.pieces)
            }
        }
    }

    private func append(_ pieces: Pieces) {
        if let piece = pieces.log { log?.append(piece) }
        writer.append(pieces.stream)
    }

    /// Returns a closure that removes a line from the window when it has been called for all of its pieces.
    ///
    /// A log whose reader is slow delays further lines, like the stream, instead of collecting records in memory.
    private func leaving(bytes: Int, pieceCount: Int) -> @Sendable () -> Void {
        guard pieceCount > 1 else { return { [window] in window.leave(bytes: bytes) } }
        let unwritten = Locked(pieceCount)
        return { [window] in
            let isLast = unwritten.withLock { unwritten -> Bool in
                unwritten -= 1
                return unwritten == 0
            }
            if isLast { window.leave(bytes: bytes) }
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
