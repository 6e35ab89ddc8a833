import Threading
import WebimageConsole

/// Gets images, of which those that have a place are processed at a time.
///
/// A source that waits for a rate, a lookup, or a retry before its body has begun has no place; further ones are
/// started meanwhile.
struct SourceRun: Sendable {
    /// The maximum number of sources that are started and not finished.
    static let lookahead = 4_096
    /// The number of sources per place that are started even if no place is free, so that one is always ready.
    static let sourcesPerPlace = 4

    let fetcher: ImageFetcher
    let display: ProgressDisplay
    private let places: ConversionPlaces
    private let window: LineWindow
    private let state = Locked(State())

    private struct State {
        /// The error that ended the run early.
        var failure: (any Error)?
        var task: Task<Void, any Error>?
    }

    init(_ fetcher: ImageFetcher, _ display: ProgressDisplay, places: ConversionPlaces, count: Int) {
        self.fetcher = fetcher
        self.display = display
        self.places = places
        window = LineWindow(limit: Self.lookahead, base: Self.sourcesPerPlace * count) { places.areFree }
        // The window refers to the places.
        places.whenFree { [weak window] in window?.placesChanged() }
    }

    /// Gets the images of `sources`, then those of the list, and draws the display meanwhile.
    ///
    /// Throws an error if the task is canceled or nothing can be written anymore. Call this method once.
    func run(
        _ sources: [ImageSource], _ nextOfList: @escaping @Sendable () async throws -> ImageSource?
    ) async throws {
        let drawing = Task {
            do throws(FileError) { try await display.redrawRegularly() } catch { fail(error) }
        }
        defer { drawing.cancel() }
        // A task of its own, which a failure cancels: a group would cancel the images, but not the wait for the list.
        let task = Task { try await getAll(sources, nextOfList) }
        let hasFailed = state.withLock { state in
            state.task = task
            return state.failure != nil
        }
        if hasFailed { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
            stop()
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
        try result.get()
    }

    private func getAll(
        _ sources: [ImageSource], _ nextOfList: @Sendable () async throws -> ImageSource?
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var sources = sources[...]
            do {
                while await window.enter() {
                    let first = sources.popFirst()
                    let next = if let first { first } else { try await nextOfList() }
                    guard let source = next else { return }
                    let place = SourcePlace(for: source, in: places)
                    // Files never wait for anything else, so they are processed in order.
                    if case .file = source.place { try await place.claim() }
                    let count = source.text.utf8.count
                    window.add(bytes: count)
                    window.willStart()
                    group.addTask {
                        try await get(source, place)
                        window.leave(bytes: count)
                    }
                }
            } catch {
                fail(error)
                throw error
            }
        }
    }

    private func get(_ source: ImageSource, _ place: SourcePlace) async throws {
        do {
            let id = await display.begin(source.text, place)
            window.didStart()
            let outcome = try await fetcher.get(source, at: place)
            place.end()
            try await display.end(id, outcome)
            if let error = outcome.runEnd { throw error }
        } catch {
            place.end()
            fail(error)
            throw error
        }
    }

    /// Ends the run early because nothing can be written anymore.
    private func fail(_ error: any Error) {
        let task = state.withLock { state in
            // The first failure cancels the other images, whose errors must not hide it.
            if !(error is CancellationError) { state.failure = state.failure ?? error }
            return state.task
        }
        task?.cancel()
        stop()
    }

    /// Ends waiting for places and for further sources.
    private func stop() {
        window.close()
        places.abandon()
    }
}
