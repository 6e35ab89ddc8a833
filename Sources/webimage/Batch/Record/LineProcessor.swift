import AsyncWebImage
import Hashing
import ImageEncoders
import Threading
import WebimageConsole

/// Answers a line of a list: downloads its image, and converts or verifies it.
struct LineProcessor: Sendable {
    /// The answer: the record, and the file of the image.
    struct Answer: Sendable {
        var record: BatchRecord
        /// The bytes of the image; empty if there is none.
        var file: [UInt8] = []
        /// The extension of the file.
        var suffix = ""
        /// The number of bytes taken of ``LineProcessor/room``.
        fileprivate(set) var reserved = 0
    }

    let loader: ImageLoader
    let plans: LinePlans
    let memory: MemoryLimits
    /// The folder for temporary files of large images.
    let scratch: OutputFolder
    let filter: SizeFilter
    /// The digest to compute; `nil` for none.
    let digest: DigestAlgorithm?
    /// The digest that the list contains; `nil` for none.
    let verified: DigestAlgorithm?
    /// A Boolean value that indicates whether Exif data are read.
    let readsExif: Bool
    /// The hashes to compute of the pixels.
    let hashes: [PixelHash]
    /// A Boolean value that indicates whether downloads stop after the header of the image, and no files result.
    let readsHeaderOnly: Bool
    /// A Boolean value that indicates whether cookies are sent and stored.
    let handlesCookies: Bool
    /// The room for the files of answers that wait in memory to be written, in bytes.
    let room: FairSemaphore
    /// The number of files that may wait on disk without a slot; each takes a descriptor.
    let waitingFiles: FairSemaphore
    /// A Boolean value that indicates whether lines are delivered in the order of the list.
    let isOrdered: Bool
    let attempts: AttemptCounter
    /// The check of robots.txt; `nil` for none.
    var robots: RobotsCheck?

    /// Starts the download of a line, and returns when its first bytes have arrived, or when it has failed.
    ///
    /// Apart from ``answer(_:)`` because most open lines wait here: a suspended function keeps all its variables, and
    /// this one has few.
    func start(_ line: StartedLine) async {
        guard hasPlan(line) else { return }
        if robots != nil { guard await isAllowed(line) else { return } }
        if readsHeaderOnly { return await readHeader(line) }
        await begin(line).waitForFirst()
    }

    /// Sets the plan of a line with options of its own; returns `false` if the line has failed already.
    @inline(never)  // A function that waits keeps the variables of inlined ones.
    private func hasPlan(_ line: StartedLine) -> Bool {
        guard line.entry.problem == nil else { return false }
        do {
            if let options = line.entry.options { line.plan = try plans.plan(for: options) }
            return true
        } catch {
            line.beginning = .failure(error)
            return false
        }
    }

    @inline(never)
    private func isAllowed(_ line: StartedLine) async -> Bool {
        guard let robots, let url = try? HTTPURL(line.entry.url ?? "") else { return true }
        line.slot.waitsForOther()
        do {
            try await robots.check(url)
            return true
        } catch {
            line.beginning = .failure(error)
            return false
        }
    }

    @inline(never)
    private func readHeader(_ line: StartedLine) async {
        line.requestedURL = attempts.begin(line.entry.url ?? "")
        do {
            line.beginning = .header(try await loader.info(for: request(of: line)))
        } catch {
            line.beginning = .failure(error)
        }
    }

    private func request(of line: StartedLine) -> ImageRequest {
        var request = ImageRequest(
            line.entry.url ?? "", handlesCookies: handlesCookies, finishesOnShutdown: true)
        request.slot = line.slot
        return request
    }

    /// Starts the download of a line.
    @inline(never)
    private func begin(_ line: StartedLine) -> DownloadedPieces {
        line.requestedURL = attempts.begin(line.entry.url ?? "")
        let pieces = DownloadedPieces(request(of: line), by: loader)
        line.beginning = .body(pieces)
        return pieces
    }

    /// Returns the answer to `line`, whether or not its download succeeds, when it can be delivered.
    ///
    /// Call ``finish(_:)`` when it has been delivered. Throws ``FileError`` if no temporary files can be written anymore.
    func answer(_ line: StartedLine) async throws(FileError) -> Answer {
        let entry = line.entry
        var answer = Answer(record: BatchRecord(entry: entry))
        if let problem = entry.problem {
            answer.record.failure = ImageFailure(.badLine, problem)
        } else {
            do {
                defer { if let url = line.requestedURL { answer.record.attempts = attempts.end(url) } }
                try await load(line, into: &answer)
            } catch {
                if let error = error as? FileError, error.endsRun { throw error }
                answer.record.failure = ImageFailure(error)
                // Pieces have no head if their response was not accepted.
                if let head = (error as? ImageError)?.head { answer.record.describe(head) }
                (answer.file, line.storedFile) = ([], nil)
                finish(answer)
                answer.reserved = 0
            }
        }
        if answer.record.failure == nil, !readsHeaderOnly {
            answer.record.bytes = line.storedFile?.count ?? answer.file.count
        }
        answer.record.milliseconds = Int(line.start.duration(to: .now) / .milliseconds(1))
        try await awaitDelivery(line, &answer)
        return answer
    }

    /// Releases the room of an answer that has been delivered.
    func finish(_ answer: Answer) {
        if answer.reserved > 0 { room.release(answer.reserved) }
    }

    /// Waits until the answer can be delivered: for its turn, if lines are delivered in order, or otherwise for the room
    /// for its file.
    ///
    /// The slot of the line is given up while the memory and the descriptors of the answer are counted otherwise. In
    /// order, only one file at a time needs room beyond the limit, and must not wait for that of later lines.
    private func awaitDelivery(_ line: StartedLine, _ answer: inout Answer) async throws(FileError) {
        let count = line.storedFile?.count ?? answer.file.count
        if count > 0, answer.reserved == 0, room.tryAcquire(count) { answer.reserved = count }
        let waitsOnDisk = line.storedFile != nil && waitingFiles.tryAcquire()
        defer { if waitsOnDisk { waitingFiles.release() } }
        if count == 0 || (line.storedFile == nil ? answer.reserved > 0 : waitsOnDisk) { line.slot.release() }
        if isOrdered {
            await line.slot.awaitTurn()
        } else if count > 0, answer.reserved == 0 {
            await room.acquire(count)
            answer.reserved = count
        }
        guard let file = line.storedFile else { return }
        line.storedFile = nil
        do {
            answer.file = try file.contents()
        } catch {
            if let error = error as? FileError, error.endsRun { throw error }
            answer.record.failure = ImageFailure(error)
            answer.record.bytes = nil
        }
    }

    private func load(_ line: StartedLine, into answer: inout Answer) async throws {
        let downloaded: DownloadedPieces
        switch line.beginning {
        case .body(let pieces): downloaded = pieces
        case .header(let info): return try describe(info, &answer.record)
        case .failure(let error): throw error
        case nil: return
        }
        let pieces = try DigestedPieces(downloaded, digest ?? verified, findsExif: readsExif)
        do {
            try await load(pieces, line, into: &answer)
        } catch {
            describe(pieces, &answer.record)
            throw error
        }
        describe(pieces, &answer.record)
        answer.record.exif = pieces.exif.flatMap(ExifText.text(of:))
        try check(try pieces.finish(), line.entry, &answer.record)
    }

    private func describe(_ info: ImageInfo, _ record: inout BatchRecord) throws {
        record.describe(info.head)
        record.image.describe(info.header)
        // There is no output.
        record.image.size = nil
        record.image.hasGainMap = false
        record.originalBytes = info.byteCount
        record.source = info.source.rawValue
        try filter.check(info.header.size)
    }

    private func describe(_ pieces: DigestedPieces, _ record: inout BatchRecord) {
        if let head = pieces.head { record.describe(head) }
        if pieces.count > 0 { record.originalBytes = pieces.count }
        record.source = pieces.source
    }

    private func load(_ pieces: DigestedPieces, _ line: StartedLine, into answer: inout Answer) async throws {
        let maker = OutputMaker(
            line.plan ?? plans.common, by: loader.decoder, memory, in: scratch, hashes: hashes
        ) { [filter] in try filter.check($0.size) }
        defer { answer.record.image = maker.facts }
        repeat {
            line.storedFile = nil
            switch try await maker.output(of: pieces) {
            case .unchanged(let file, let format):
                // Small files are in memory anyway.
                if file.count < UnfinishedFile.bufferSize {
                    answer.file = try file.contents()
                } else {
                    line.storedFile = file
                }
                answer.suffix = format.fileExtension
            case .converted(let image):
                answer.file = image.bytes
                answer.suffix = image.format.fileExtension
                storeUnlessThereIsRoom(line, &answer)
            }
            // A decoder does not need what follows the image, the digest does.
        } while try await !pieces.drain()
    }

    /// Takes room for a converted file, if there is any at once.
    ///
    /// Otherwise the file is moved to disk, because other images are converted while it waits. It stays in memory if it
    /// is small, or cannot be moved for lack of descriptors or space.
    private func storeUnlessThereIsRoom(_ line: StartedLine, _ answer: inout Answer) {
        finish(answer)
        answer.reserved = 0
        let count = answer.file.count
        if room.tryAcquire(count) {
            answer.reserved = count
            return
        }
        guard count >= UnfinishedFile.bufferSize else { return }
        let file = scratch.makeFile()
        do throws(FileError) { try file.append(answer.file) } catch { return }
        (answer.file, line.storedFile) = ([], file)
    }

    /// Compares the digest of the body with that of the list.
    private func check(_ computed: [UInt8]?, _ entry: ListEntry, _ record: inout BatchRecord) throws {
        let text = computed?.hexadecimal
        if digest != nil { record.digest = text }
        guard verified != nil, let expected = entry.digest, expected.lowercased() != text else { return }
        throw ImageRefusal(code: .hashMismatch, description: "hash mismatch")
    }
}
