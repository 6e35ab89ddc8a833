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
        func name(_ format: ImageFormat) -> FileName {
            naming.name(of: source, head: pieces.head, suffix: format.fileExtension)
        }
        let maker = OutputMaker(plan, by: loader.decoder, memory, in: output.folder)
        defer { outcome.image = maker.facts }
        let made: OutputMaker.Output
        do {
            made = try await maker.output(of: pieces) { $0.label = output.path(of: name($1)) }
        } catch let error as CodecError {
            outcome.describe(pieces)
            throw error
        }
        outcome.describe(pieces)
        let (file, format): (UnfinishedFile, ImageFormat)
        switch made {
        case .unchanged(let checked, let original): (file, format) = (checked, original)
        case .converted(let image):
            try Task.checkCancellation()
            (file, format) = (output.folder.makeFile(), image.format)
            file.label = output.path(of: name(format))
            try file.append(image.bytes)
        }
        outcome.path = try await output.place(file, as: name(format))
        outcome.outputFormat = format.identifier
        outcome.bytes = file.count
    }

    private func pieces(of source: ImageSource, _ slot: LoadSlot) throws -> any ImagePieces {
        guard case .url(let url) = source.location else {
            return try source.localPieces(limit: loader.decoder.configuration.limits.maximumBytes)
        }
        var request = ImageRequest(url, handlesCookies: handlesCookies)
        request.slot = slot
        return DownloadedPieces(request, by: loader)
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
