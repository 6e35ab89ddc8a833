import WebimageConsole
import AsyncWebImage

/// Processes one image from its source to its output file.
struct ImageFetcher: Sendable {
    let loader: ImageLoader
    let meter: TransferMeter
    let output: ImageOutput
    var naming = ImageNaming()
    /// The folder for previews, if they are written.
    var previews: OutputFolder?
    let plan: OutputPlan
    let workers: ThreadPool
    var memory = MemoryLimits()
    /// A Boolean value that indicates whether cookies are sent and stored.
    var handlesCookies = false

    /// Processes `source`, which has `slot`, and returns the outcome.
    ///
    /// Throws an error if the task is canceled, and a ``FileError`` if nothing can be written anymore.
    func get(_ source: ImageSource, _ slot: LoadSlot) async throws -> Outcome {
        let clock = ContinuousClock()
        let start = clock.now
        var outcome = Outcome(url: source.text)
        if case .url(let url) = source.location { meter.follow(url) }
        defer { if case .url(let url) = source.location { meter.forget(url) } }
        var failure: (any Error)?
        var previewFailure: (any Error)?
        await withTaskGroup(of: (any Error)?.self) { group in
            if let previews = previewWriter, case .url(let url) = source.location {
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
        outcome.failure = failure.map { ImageFailure($0, of: source) }
        outcome.previewError = previewFailure.map { ImageFailure($0, of: source).message }
        outcome.httpStatus = outcome.httpStatus ?? (failure as? ImageError)?.httpStatus
        if outcome.httpStatus == nil, case .url(let url) = source.location {
            outcome.httpStatus = meter.flow(of: url)?.status
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
        var request = ImageRequest(
            url, options: options, transformations: plan.transformations, handlesCookies: handlesCookies)
        request.slot = slot
        return request
    }

    private func get(_ source: ImageSource, _ slot: LoadSlot, into outcome: inout Outcome) async throws {
        let pieces = try pieces(of: source, slot)
        switch plan.mode {
        case .untouched: try await check(pieces, .header, as: nil, source, &outcome)
        case .converted(let format) where !plan.dependsOnHeader:
            try await convert(pieces, of: pieces, as: format, source, &outcome)
        case .converted(let format), .verified(let format):
            do {
                try await check(pieces, .everything, as: format, source, &outcome)
            } catch ImageError.transport(_) where plan.options.allowsPartial {
                let pieces = try self.pieces(of: source, slot)
                try await convert(pieces, of: pieces, as: format, source, &outcome)
            }
        }
    }

    private func pieces(of source: ImageSource, _ slot: LoadSlot) throws -> any ImagePieces {
        switch source.location {
        case .url(let url):
            var request = ImageRequest(url, handlesCookies: handlesCookies)
            request.slot = slot
            return DownloadedPieces(request, by: loader)
        case .file(let path): return FilePieces(try ImageFile(path: path, isSource: true))
        case .standardInput:
            return InputPieces(
                try InputBlocks(path: "-"), limit: loader.decoder.configuration.limits.maximumBytes)
        case .invalid(let reason): throw FileError(description: reason)
        }
    }

    /// The error for an image that cannot be written as downloaded.
    private struct NeedsConversion: Error {}

    /// Writes the bytes as they arrive, and gives the file its name only if it passes the check; converts the image to
    /// `format` instead if the plan requires that, or it is damaged and damaged images are allowed.
    private func check(
        _ pieces: any ImagePieces, _ extent: ImageCheck.Extent, as format: ImageFormat?, _ source: ImageSource,
        _ outcome: inout Outcome
    ) async throws {
        let check = ImageCheck(
            decoder: loader.decoder, memory: memory, extent: extent,
            keepsDamaged: plan.options.allowsPartial || plan.isConverted)
        let file = output.folder.makeFile()
        func name(_ format: ImageFormat) -> FileName { self.name(of: source, pieces, format) }
        do {
            let header = try await check.run(pieces, into: file) {
                file.label = output.path(of: name($0))
            } admission: {
                guard plan.keeps($0) else { throw NeedsConversion() }
            }
            outcome.describe(pieces)
            // A header that is behind much metadata.
            guard plan.keeps(header) else { throw NeedsConversion() }
            outcome.image.describe(header)
            if extent == .everything { outcome.image.warnings = header.warnings }
            try plan.check(header.warnings)
            outcome.path = try await output.place(file, as: name(header.format))
            outcome.outputFormat = header.format.identifier
            outcome.bytes = file.count
        } catch is NeedsConversion {
            try await convert(RewoundPieces(file, pieces), of: pieces, as: format, source, &outcome)
        } catch is MemoryShortage where plan.isConverted {
            try await convert(RewoundPieces(file, pieces), of: pieces, as: format, source, &outcome)
        } catch is ImageCheck.Damaged {
            try await convert(try file.pieces(), of: pieces, as: format, source, &outcome)
        } catch let error as CodecError {
            outcome.describe(pieces)
            throw error
        }
    }

    /// Converts the image in `pieces`, the bytes of `original`.
    private func convert(
        _ pieces: any ImagePieces, of original: any ImagePieces, as format: ImageFormat?, _ source: ImageSource,
        _ outcome: inout Outcome
    ) async throws {
        let conversion = Conversion(
            decoder: loader.decoder, memory: memory, plan: plan, format: format, folder: output.folder)
        let image = try await conversion.run(pieces, into: &outcome.image)
        outcome.describe(original)
        try Task.checkCancellation()
        let file = output.folder.makeFile()
        let name = name(of: source, original, image.format)
        file.label = output.path(of: name)
        try file.append(image.bytes)
        outcome.path = try await output.place(file, as: name)
        outcome.outputFormat = image.format.identifier
        outcome.bytes = image.bytes.count
    }

    private func name(of source: ImageSource, _ pieces: any ImagePieces, _ format: ImageFormat) -> FileName {
        naming.name(of: source, head: pieces.head, suffix: format.fileExtension)
    }
}

extension ImageFailure {
    /// Creates the failure of a source of `webimage get`, whose message says what to do.
    init(_ error: any Error, of source: ImageSource) {
        self.init(error)
        // Not part of the descriptions, because `webimage batch` has other options.
        switch error {
        case is MemoryShortage, CodecError.overLimit(.memory, _, _): message += " (see --memory-limit)"
        case CodecError.overLimit(.work, _, _): message += " (see --max-work)"
        case CodecError.notAnImage("plain text") where !source.isURL: message += "; pass a list of URLs with --input"
        case CodecError.notAnImage("JSON") where !source.isURL, CodecError.notAnImage("Parquet") where !source.isURL:
            message += "; webimage batch reads lists with columns"
        default: break
        }
    }
}
