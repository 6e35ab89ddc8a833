import WebimageConsole
import AsyncWebImage

/// Processes one image from its source to its output file.
struct ImageFetcher: Sendable {
    let loader: ImageLoader
    let meter: TransferMeter
    let folder: OutputFolder
    /// The folder for previews, if they are written.
    var previews: OutputFolder?
    let plan: OutputPlan
    let workers: ThreadPool
    var memory = MemoryLimits()

    /// Processes `source`, which has `slot`, and returns the outcome.
    ///
    /// Throws an error if the task is canceled, and a ``FileError`` if nothing can be written anymore.
    func get(_ source: ImageSource, _ slot: LoadSlot) async throws -> Outcome {
        let clock = ContinuousClock()
        let start = clock.now
        var outcome = Outcome(url: source.text)
        if case .url(let url) = source.place { meter.follow(url) }
        defer { if case .url(let url) = source.place { meter.forget(url) } }
        var failure: (any Error)?
        var previewFailure: (any Error)?
        await withTaskGroup(of: (any Error)?.self) { group in
            if let previews = previewWriter, case .url(let url) = source.place {
                group.addTask { [request = previewRequest(url, slot)] in
                    do { try await previews.write(request, named: source.text) } catch { return error }
                    return nil
                }
            }
            do {
                try await withTaskExecutorPreference(workers) { try await get(source, slot, into: &outcome) }
            } catch {
                failure = error
            }
            group.cancelAll()
            for await error in group { previewFailure = error }
        }
        if let failure, Task.isCancelled || failure is CancellationError { throw CancellationError() }
        if let error = failure as? FileError, error.endsRun { throw error }
        // The image itself may have been written.
        if let error = previewFailure as? FileError, error.endsRun { outcome.runEnd = error }
        outcome.error = failure.map { Self.message(for: $0) }
        outcome.previewError = previewFailure.map { Self.message(for: $0) }
        outcome.httpStatus = (failure as? ImageError)?.httpStatus
        if case .url(let url) = source.place {
            outcome.httpStatus = meter.flow(of: url)?.status ?? outcome.httpStatus
        }
        outcome.milliseconds = Int((clock.now - start) / .milliseconds(1))
        return outcome
    }

    private var previewWriter: PreviewWriter? {
        previews.map { PreviewWriter(folder: $0, loader: loader, workers: workers) }
    }

    private func previewRequest(_ url: String, _ slot: LoadSlot) -> ImageRequest {
        var options = plan.options
        options.keepsProfile = false  // they are written without a profile
        var request = ImageRequest(url, options: options)
        request.slot = slot
        return request
    }

    private func get(_ source: ImageSource, _ slot: LoadSlot, into outcome: inout Outcome) async throws {
        let pieces = try pieces(of: source, slot)
        switch plan.mode {
        case .converted(let format): try await convert(pieces, as: format, source, &outcome)
        case .untouched: try await check(pieces, .header, source, &outcome)
        case .verified:
            do {
                try await check(pieces, .everything, source, &outcome)
            } catch ImageError.transport(_) where plan.options.allowsPartial {
                try await convert(try self.pieces(of: source, slot), as: nil, source, &outcome)
            }
        }
    }

    private func pieces(of source: ImageSource, _ slot: LoadSlot) throws -> any ImagePieces {
        switch source.place {
        case .url(let url):
            var request = ImageRequest(url)
            request.slot = slot
            return DownloadedPieces(loader.bytes(for: request))
        case .file(let path): return FilePieces(try ImageFile(path: path))
        case .invalid(let reason): throw FileError(description: reason)
        }
    }

    /// Writes the bytes as they arrive, and gives the file its name only if it passes the check; if damaged images are
    /// allowed, writes the pixels of a damaged one instead.
    private func check(
        _ pieces: any ImagePieces, _ extent: ImageCheck.Extent, _ source: ImageSource, _ outcome: inout Outcome
    ) async throws {
        let check = ImageCheck(
            decoder: loader.decoder, memory: memory, extent: extent, keepsDamaged: plan.options.allowsPartial)
        let file = folder.makeFile()
        func name(_ format: ImageFormat) -> FileName {
            FileName(source: source.text, suffix: format.fileExtension)
        }
        do {
            let header = try await check.run(pieces, into: file) { file.label = folder.path(of: name($0)) }
            outcome.source = pieces.source
            outcome.image.describe(header)
            if extent == .everything { outcome.image.warnings = header.warnings }
            try plan.check(header.warnings)
            outcome.path = try file.place(as: name(header.format))
            outcome.bytes = file.count
        } catch is ImageCheck.Damaged {
            let damaged = try file.pieces()
            try await convert(damaged, as: nil, source, &outcome)
            outcome.source = pieces.source
        } catch let error as CodecError {
            outcome.source = pieces.source
            throw error
        }
    }

    private func convert(
        _ pieces: any ImagePieces, as format: ImageFormat?, _ source: ImageSource, _ outcome: inout Outcome
    ) async throws {
        let conversion = Conversion(
            decoder: loader.decoder, memory: memory, plan: plan, format: format, folder: folder)
        let image = try await conversion.run(pieces, into: &outcome.image)
        outcome.source = pieces.source
        try Task.checkCancellation()
        outcome.path = try folder.write(
            image.bytes, as: FileName(source: source.text, suffix: image.format.fileExtension))
        outcome.bytes = image.bytes.count
    }

    static func message(for error: any Error) -> String {
        // Not part of the description, because `webimage batch` has no such option.
        if let shortage = error as? MemoryShortage { return "\(shortage) (see --memory-limit)" }
        if case .overLimit(.work, _, _) = error as? CodecError { return "\(error) (see --max-work)" }
        guard let error = error as? any CustomStringConvertible else { return "\(error)" }
        return error.description
    }
}
