import AsyncWebImage
import Digests
import Hashing
import ImageEncoders
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
        /// The number of bytes reserved in ``Allowance``.
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
    /// The room for the files of answers that wait to be written.
    let room: Allowance<Int>
    /// The number of converted files that may wait on disk; each takes a descriptor.
    let waitingFiles: Allowance<Int>
    let places: ConversionPlaces
    /// The check of robots.txt; `nil` for none.
    var robots: RobotsCheck?

    /// Starts the download of a line, and returns when its first bytes have arrived, or when it has failed.
    ///
    /// Apart from ``answer(_:_:)`` because most open lines wait here: a suspended function keeps all its variables, and
    /// this one has few.
    func start(_ line: StartedLine) async {
        guard hasPlan(line) else { return }
        if robots != nil { guard await isAllowed(line) else { return } }
        if readsHeaderOnly { return await readHeader(line) }
        if await begin(line).waitForFirst(), let place = line.place { await places.keep(place) }
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
        let url = line.entry.url ?? ""
        line.place = places.begin(url, line: line.entry.index)
        do {
            line.beginning = .header(try await loader.info(for: ImageRequest(url)))
        } catch {
            line.beginning = .failure(error)
        }
    }

    /// Starts the download of a line.
    @inline(never)
    private func begin(_ line: StartedLine) -> DownloadedPieces {
        let url = line.entry.url ?? ""
        line.place = places.begin(url, line: line.entry.index)
        let pieces = DownloadedPieces(loader.bytes(for: ImageRequest(url)))
        line.beginning = .body(pieces)
        return pieces
    }

    /// Returns the answer to `line`, whether or not its download succeeds.
    ///
    /// Throws ``FileError`` if no temporary files can be written anymore.
    func answer(_ line: StartedLine) async throws(FileError) -> Answer {
        let entry = line.entry
        var answer = Answer(record: BatchRecord(entry: entry))
        if let problem = entry.problem {
            answer.record.failure = BatchFailure(.badLine, problem)
        } else {
            do {
                defer { if let place = line.place { answer.record.attempts = places.end(place, line: entry.index) } }
                try await load(line, into: &answer)
            } catch {
                if let error = error as? FileError, error.endsRun { throw error }
                answer.record.failure = BatchFailure(error)
                answer.record.httpStatus = answer.record.httpStatus ?? (error as? ImageError)?.httpStatus
                answer.file = []
            }
        }
        if answer.record.failure == nil, !readsHeaderOnly { answer.record.bytes = answer.file.count }
        answer.record.milliseconds = Int(line.start.duration(to: .now) / .milliseconds(1))
        return answer
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
            try await load(pieces, line.plan ?? plans.common, into: &answer)
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
        record.originalBytes = info.byteCount
        record.source = info.source.rawValue
        try filter.check(info.header.size)
    }

    private func describe(_ pieces: DigestedPieces, _ record: inout BatchRecord) {
        if let head = pieces.head { record.describe(head) }
        if pieces.count > 0 { record.originalBytes = pieces.count }
        record.source = pieces.source
    }

    private func load(
        _ pieces: DigestedPieces, _ plan: OutputPlan, into answer: inout Answer
    ) async throws {
        var stored: UnfinishedFile?
        defer { if stored != nil { waitingFiles.release(1) } }
        repeat {
            if stored != nil { waitingFiles.release(1) }
            stored = nil
            switch plan.mode {
            case .converted(let format):
                try await convert(pieces, plan, as: format, &answer)
                stored = storeUnlessThereIsRoom(&answer)
            case .untouched: try await keep(pieces, plan, .header, &answer)
            case .verified: try await keep(pieces, plan, .everything, &answer)
            }
            // A decoder does not need what follows the image, the digest does.
        } while try await !pieces.drain()
        // Once the download has released its slot, which an earlier line may need.
        if answer.reserved == 0 { await reserve(stored?.count ?? answer.file.count, for: &answer) }
        if let stored { answer.file = try stored.contents() }
    }

    /// Reserves room for a converted file, if there is any at once.
    ///
    /// Otherwise the file is moved to disk and returned, because other images are converted while it waits. It stays in
    /// memory if it is small, or cannot be moved for lack of descriptors or space.
    private func storeUnlessThereIsRoom(_ answer: inout Answer) -> UnfinishedFile? {
        room.release(answer.reserved)
        answer.reserved = 0
        let count = answer.file.count
        if room.reserveAtOnce(count, for: answer.record.entry.index) {
            answer.reserved = count
            return nil
        }
        guard count >= UnfinishedFile.bufferSize, waitingFiles.reserveAtOnce(1) else { return nil }
        let file = scratch.makeFile()
        do throws(FileError) {
            try file.append(answer.file)
        } catch {
            waitingFiles.release(1)
            return nil
        }
        answer.file = []
        return file
    }

    private func convert(
        _ pieces: DigestedPieces, _ plan: OutputPlan, as format: ImageFormat?, _ answer: inout Answer
    ) async throws {
        var conversion = Conversion(
            decoder: loader.decoder, memory: memory, plan: plan, format: format, folder: scratch, hashes: hashes)
        conversion.admission = { [filter] in try filter.check($0.size) }
        answer.record.image = ImageFacts()
        let image = try await conversion.run(pieces, into: &answer.record.image)
        answer.file = image.bytes
        answer.suffix = image.format.fileExtension
    }

    private func keep(
        _ pieces: DigestedPieces, _ plan: OutputPlan, _ extent: ImageCheck.Extent, _ answer: inout Answer
    ) async throws {
        let check = ImageCheck(decoder: loader.decoder, memory: memory, extent: extent)
        let file = scratch.makeFile()
        var facts = ImageFacts()
        defer { answer.record.image = facts }
        let header = try await check.run(pieces, into: file) { _ in
        } admission: { header in
            facts.describe(header)
            try filter.check(header.size)
        }
        // A header that is behind much metadata.
        try filter.check(header.size)
        facts.describe(header)
        if extent == .everything { facts.warnings = header.warnings }
        try plan.check(header.warnings)
        await reserve(file.count, for: &answer)
        answer.file = try file.contents()
        answer.suffix = header.format.fileExtension
    }

    /// Waits for room for the file of an answer, instead of the file of an earlier body.
    private func reserve(_ count: Int, for answer: inout Answer) async {
        room.release(answer.reserved)
        answer.reserved = 0
        await room.reserve(count, for: answer.record.entry.index)
        answer.reserved = count
    }

    /// Compares the digest of the body with that of the list.
    private func check(_ computed: [UInt8]?, _ entry: ListEntry, _ record: inout BatchRecord) throws {
        let text = computed?.hexadecimal
        if digest != nil { record.digest = text }
        guard verified != nil, let expected = entry.digest, expected.lowercased() != text else { return }
        throw ImageRefusal(code: .hashMismatch, description: "hash mismatch")
    }
}
