import Threading

/// Gets images, of which those that have a place are processed at a time.
///
/// A source that waits for a retry, a rate, or a lookup has no place; further ones are started meanwhile.
struct SourceRun: Sendable {
    /// The maximum number of sources that are started and not finished.
    static let lookahead = 4_096
    /// The number of sources per place that are started even if no place is free, so that one is always ready.
    static let sourcesPerPlace = 4

    let fetcher: ImageFetcher
    let display: ProgressDisplay
    private let places: ConversionPlaces
    private let window: LineWindow

    init(_ fetcher: ImageFetcher, _ display: ProgressDisplay, places: ConversionPlaces, count: Int) {
        self.fetcher = fetcher
        self.display = display
        self.places = places
        window = LineWindow(limit: Self.lookahead, base: Self.sourcesPerPlace * count) { places.areFree }
        // The window refers to the places.
        places.whenFree { [weak window] in window?.placesChanged() }
    }

    /// Gets the images of `sources`, then those of the list.
    ///
    /// Throws an error if the task is canceled or nothing can be written anymore.
    func run(_ sources: [ImageSource], _ nextOfList: () async throws -> ImageSource?) async throws {
        try await withTaskCancellationHandler {
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
                        group.addTask {
                            try await get(source, place)
                            window.leave(bytes: count)
                        }
                    }
                } catch {
                    stop()
                    throw error
                }
            }
        } onCancel: {
            stop()
        }
    }

    private func get(_ source: ImageSource, _ place: SourcePlace) async throws {
        do {
            let id = await display.begin(source.text, place)
            let outcome = try await fetcher.get(source, at: place)
            place.end()
            try await display.end(id, outcome)
        } catch {
            place.end()
            stop()
            throw error
        }
    }

    /// Ends waiting for places and for further sources.
    private func stop() {
        window.close()
        places.abandon()
    }
}
